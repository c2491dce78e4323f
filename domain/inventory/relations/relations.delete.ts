import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { requireManage } from './relations.admit.ts';
import { writtenRelation } from './relations.list.ts';
import { lockRelation } from './relations.load.ts';
import { saveRelations } from './relations.save.ts';

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
