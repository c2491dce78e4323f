import Type from 'typebox';
import { queryRows } from '../../../../platform/database.ts';
import { notFound } from '../../../../platform/errors.ts';
import type { Ctx } from '../../../kernel/context.ts';
import { columnMembers } from '../../../kernel/lists/lists.members.ts';
import { runList } from '../../../kernel/lists/lists.run.ts';
import { projection } from '../../../kernel/lists/lists.sql.ts';
import type {
  Condition,
  JsonText,
  ListParams,
  ListSpec,
  SortField,
} from '../../../kernel/lists/lists.types.ts';
import { type StaticOf, Uuid } from '../../../kernel/shapes.ts';
import { CardMerge } from '../cards.model.ts';
import { visibleCards } from '../cards.visible.ts';

const { journal: _internal, ...columns } = columnMembers('m', CardMerge);

export const mergeSorts: Record<string, SortField> = {
  created_at: { sql: 'm.created_at', type: 'timestamptz', immutable: true },
};
export const mergeFilters = {
  card_id: Type.Optional(Type.String({ ...Uuid, description: 'A card that survived or was merged' })),
};

const list: ListSpec = {
  name: 'card-merges',
  from: `card_merges m left join cards s on s.id = m.survivor_id left join users u on u.id = m.created_by
    left join users w on w.id = m.undone_by`,
  id: 'm.id',
  idType: 'uuid',
  sorts: mergeSorts,
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    ...columns,
    survivor_name: 's.name',
    created_by_name: 'u.display_name',
    undone_by_name: 'w.display_name',
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
export async function listMerges(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof mergeFilters>,
): Promise<JsonText> {
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
  const [merge] = await queryRows<{ item: JsonText }>(
    ctx.db,
    `select ${item.sql}::text as item from ${list.from} where m.id = ?::uuid and ${visible.sql}`,
    [...item.bindings, id, ...visible.bindings],
  );
  if (!merge) throw notFound('merge', id);
  return merge.item;
}
