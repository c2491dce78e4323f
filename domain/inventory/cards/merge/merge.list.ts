import { notFound } from '../../../../platform/errors.ts';
import type { Ctx } from '../../../kernel/context.ts';
import { runList } from '../../../kernel/lists/lists.run.ts';
import { projection } from '../../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../../kernel/lists/lists.types.ts';
import { visibleCards } from '../cards.visible.ts';

const list: ListSpec = {
  name: 'card-merges',
  from: `card_merges m left join cards s on s.id = m.survivor_id left join users u on u.id = m.created_by
    left join users w on w.id = m.undone_by`,
  id: 'm.id',
  idType: 'uuid',
  sorts: { created_at: { sql: 'm.created_at', type: 'timestamptz', immutable: true } },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    id: 'm.id',
    card_type: 'm.card_type',
    survivor_id: 'm.survivor_id',
    survivor_name: 's.name',
    merged: 'm.merged',
    created_by: 'm.created_by',
    created_by_name: 'u.display_name',
    created_at: 'utc(m.created_at)',
    undone_by: 'm.undone_by',
    undone_by_name: 'w.display_name',
    undone_at: 'utc(m.undone_at)',
  },
};

/** Merges whose surviving card the caller sees; those whose survivor is gone as well, for the cards of shown types. */
function visibleMerges(ctx: Ctx): Condition {
  const visible = visibleCards(ctx);
  return {
    sql: `m.card_type <> all(?::text[])
      and (s.id is null or exists (select from cards c where c.id = m.survivor_id and (${visible.sql})))`,
    bindings: [ctx.metamodel.hiddenTypes, ...visible.bindings],
    visibility: true,
  };
}

/** The merges, newest first, or those of one card, as survivor or merged. */
export async function listMerges(ctx: Ctx, params: ListParams & { card_id?: string }): Promise<JsonText> {
  const conditions = [visibleMerges(ctx)];
  if (params.card_id !== undefined) {
    const id = params.card_id.toLowerCase();
    conditions.push({
      sql: '(m.survivor_id = ?::uuid or m.merged @> ?::jsonb)',
      bindings: [id, JSON.stringify([{ id }])],
    });
  }
  return await runList(ctx.db, list, conditions, params, { owner: ctx.caller.userId });
}

/** One merge. @throws EstateError `not_found`. */
export async function readMerge(ctx: Ctx, id: string): Promise<JsonText> {
  const item = projection(list.members, undefined);
  const visible = visibleMerges(ctx);
  const { rows } = await ctx.db.raw(
    `select ${item.sql}::text as item from ${list.from} where m.id = ?::uuid and ${visible.sql}`,
    [...item.bindings, id, ...visible.bindings] as never,
  );
  if (!rows[0]) throw notFound('merge', id);
  return rows[0].item;
}
