import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { forbidden, may } from '../../kernel/permissions/policy.ts';
import { lockCards } from '../cards/cards.load.ts';
import { admitInput, requireManage } from './relations.admit.ts';
import { writtenRelation } from './relations.list.ts';
import { loadCompeting, loadEnds } from './relations.load.ts';
import { duplicateRelation, requireFittingEnds, requireRelationType, withInput } from './relations.rules.ts';
import { saveRelations } from './relations.save.ts';
import type { RelationInput } from './relations.types.ts';
import { createWorkingSet } from './relations.working-set.ts';

export interface NewRelation extends RelationInput {
  type: string;
  source_id: string;
  target_id: string;
}

export interface WrittenRelation {
  id: string;
  text: JsonText;
}

/**
 * Relates two cards. Needs `relations.manage`, or a stakeholder role on either card that allows it.
 * @throws EstateError `forbidden`, `validation_failed`, `duplicate_relation`, `cardinality_exceeded`.
 */
export async function createRelation(ctx: Ctx, input: NewRelation): Promise<WrittenRelation> {
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
    admitInput(ctx, type, source, target, input);

    const workingSet = createWorkingSet(await loadCompeting(sql, [{ type, source_id, target_id }]));
    const place = { type: type.key, source_id, target_id };
    const there = workingSet.find(place);
    if (there) throw duplicateRelation(there.id);
    workingSet.requireRoom(type, place);
    const { rows } = await sql.raw('select uuidv7() as id');
    const id = rows[0].id as string;
    workingSet.put(withInput({ id, ...place, attributes: {}, description: null }, input));
    await saveRelations(work, ctx, workingSet.writes(), ends);
    return { id, text: await writtenRelation(sql, ctx, id) };
  });
}
