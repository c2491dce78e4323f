import Type from 'typebox';
import type { Ctx } from '../../../kernel/context.ts';
import { columnMembers, columnSorts, readItem, runList } from '../../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../../kernel/lists/lists.types.ts';
import { type StaticOf, Uuid } from '../../../kernel/shapes.ts';
import { CardMerge } from '../cards.model.ts';
import { visibleCards } from '../cards.projection.ts';

export const mergeSorts = columnSorts('m', CardMerge, 'created_at');
export const mergeFilters = {
  card_id: Type.Optional(Type.String({ ...Uuid, description: 'A card that survived or was merged' })),
};

const list: ListSpec = {
  name: 'card-merges',
  from: `card_merges m left join cards s on s.id = m.survivor_id left join users u on u.id = m.created_by
    left join users w on w.id = m.undone_by`,
  id: 'm.id',
  sorts: mergeSorts,
  filters: {
    card_id: `m.survivor_id = ?::uuid
      or m.merged @> jsonb_build_array(jsonb_build_object('id', lower(?::text)))`,
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    ...columnMembers('m', CardMerge),
    survivor_name: 's.name',
    created_by_name: 'u.display_name',
    undone_by_name: 'w.display_name',
  },
};

/** Merges whose survivor is visible to the caller, and those whose survivor was deleted, for cards of visible types. */
function visibleMerges(ctx: Ctx): Condition {
  const visible = visibleCards(ctx);
  return {
    sql: `m.card_type <> all(?::text[])
      and (s.id is null or exists (select from cards c where c.id = m.survivor_id and (${visible.sql})))`,
    bindings: [ctx.metamodel.hiddenTypes, ...visible.bindings],
    visibility: true,
  };
}

/** The merges, newest first; of one card if given, as survivor or merged card. */
export const listMerges = (ctx: Ctx, params: ListParams & StaticOf<typeof mergeFilters>): Promise<JsonText> =>
  runList(ctx, list, [visibleMerges(ctx)], params);

/** One merge. @throws EstateError `not_found`. */
export const readMerge = (ctx: Ctx, id: string): Promise<JsonText> =>
  readItem(ctx.db, list, 'merge', id, [visibleMerges(ctx)]);
