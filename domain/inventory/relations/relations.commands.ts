import { query } from '../../../platform/database.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { forbidden, may } from '../../kernel/permissions/policy.ts';
import { lockCards } from '../cards/cards.load.ts';
import { checkRelationInput, requireManage, seesRelationCosts } from './relations.admit.ts';
import { writtenRelation } from './relations.list.ts';
import { loadCompeting, loadEnds, lockRelation } from './relations.load.ts';
import type { RelationInput } from './relations.model.ts';
import { duplicateRelation, requireFittingEnds, requireRelationType, withInput } from './relations.rules.ts';
import { saveRelations } from './relations.save.ts';
import { createWorkingSet } from './relations.working-set.ts';

interface NewRelation extends RelationInput {
  type: string;
  source_id: string;
  target_id: string;
}

/**
 * Relates two cards. Needs `relations.manage`, or a stakeholder role on either card that allows it.
 * @throws EstateError `forbidden`, `validation_failed`, `duplicate_relation`, `cardinality_exceeded`.
 */
export async function createRelation(ctx: Ctx, input: NewRelation) {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const type = requireRelationType(work.metamodel, input.type);
    const source_id = input.source_id.toLowerCase();
    const target_id = input.target_id.toLowerCase();
    await lockCards(work, [source_id, target_id]);
    const ends = await loadEnds(sql, ctx, [source_id, target_id]);
    if (ends.size < 2 && !may(ctx.caller, 'inventory.view')) throw forbidden('inventory.view');
    const { source, target } = requireFittingEnds(type, ends.get(source_id), ends.get(target_id));
    requireManage(ctx, source, target);
    const values = checkRelationInput(work, ctx, { type, source, target }, input);

    const workingSet = createWorkingSet(await loadCompeting(sql, [{ type, source_id, target_id }]));
    const place = { type: type.key, source_id, target_id };
    const there = workingSet.find(place);
    if (there) throw duplicateRelation(there.id);
    workingSet.requireCardinality(type, place);
    const id = await query(sql).value<string>`select uuidv7()`;
    workingSet.put(withInput({ id, ...place, attributes: {}, description: null }, values));
    await saveRelations(work, ctx, workingSet.writes(), ends);
    return { id, text: await writtenRelation(sql, ctx, id) };
  });
}

/**
 * Changes a relation's attributes, merged key by key, and description; null clears. Costs that the caller may not see
 * are retained. Nothing is written if nothing changes.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `validation_failed`, `costs_by_period`.
 */
export async function patchRelation(ctx: Ctx, id: string, input: RelationInput): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { relation, type, source, target } = await lockRelation(work, ctx, id);
    requireManage(ctx, source, target);
    if (ctx.ifMatch) checkIfMatch(ctx, await writtenRelation(work.sql, ctx, relation.id));
    const values = checkRelationInput(work, ctx, { type, source, target }, input, relation);
    const hidden = seesRelationCosts(ctx, source, target) ? [] : type.costKeys;
    const ends = new Map([source, target].map((end) => [end.id, end]));
    await saveRelations(work, ctx, [{ before: relation, after: withInput(relation, values, hidden) }], ends);
    return await writtenRelation(work.sql, ctx, relation.id);
  });
}

/** Deletes a relation. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
export async function deleteRelation(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { relation, source, target } = await lockRelation(work, ctx, id);
    requireManage(ctx, source, target);
    if (ctx.ifMatch) checkIfMatch(ctx, await writtenRelation(work.sql, ctx, relation.id));
    const ends = new Map([source, target].map((end) => [end.id, end]));
    await saveRelations(work, ctx, [{ before: relation, after: null }], ends);
  });
}
