import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { admitInput, requireManage, seesRelationCosts } from './relations.admit.ts';
import { writtenRelation } from './relations.list.ts';
import { lockRelation } from './relations.load.ts';
import { withInput } from './relations.rules.ts';
import { saveRelations } from './relations.save.ts';
import type { RelationInput } from './relations.types.ts';

/**
 * Changes a relation's attributes, merged key by key, and description; null clears. Costs that the caller does not
 * see stay. A patch that changes nothing writes nothing.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `validation_failed`.
 */
export async function patchRelation(ctx: Ctx, id: string, input: RelationInput): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { relation, type, source, target } = await lockRelation(work, ctx, id);
    requireManage(ctx, source, target);
    if (ctx.ifMatch) checkIfMatch(ctx, await writtenRelation(work.sql, ctx, relation.id));
    admitInput(ctx, type, source, target, input);
    const hidden = seesRelationCosts(ctx, source, target) ? [] : type.costKeys;
    const ends = new Map([source, target].map((end) => [end.id, end]));
    const write = { before: relation, after: withInput(relation, input, hidden) };
    await saveRelations(work, ctx, [write], ends);
    return await writtenRelation(work.sql, ctx, relation.id);
  });
}
