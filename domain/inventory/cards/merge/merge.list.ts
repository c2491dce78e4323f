import Type from 'typebox';
import type { Ctx } from '../../../kernel/context.ts';
import { defineList } from '../../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts } from '../../../kernel/lists/lists.run.ts';
import type { Condition } from '../../../kernel/lists/lists.types.ts';
import { Uuid } from '../../../kernel/shapes.ts';
import { CardMerge } from '../cards.model.ts';
import { visibleCards } from '../cards.projection.ts';

/** The merges, newest first; of one card if given, as survivor or merged card. */
export const mergeList = defineList({
  name: 'card-merges',
  from: `card_merges m left join cards s on s.id = m.survivor_id left join users u on u.id = m.created_by
    left join users w on w.id = m.undone_by`,
  id: 'm.id',
  sorts: columnSorts('m', CardMerge, 'created_at'),
  filters: {
    card_id: [
      Type.String({ ...Uuid, description: 'A card that survived or was merged' }),
      `m.survivor_id = ?::uuid
      or m.merged @> jsonb_build_array(jsonb_build_object('id', lower(?::text)))`,
    ],
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    ...columnMembers('m', CardMerge),
    survivor_name: 's.name',
    created_by_name: 'u.display_name',
    undone_by_name: 'w.display_name',
  },
  visible: (ctx) => [visibleMerges(ctx)],
});

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
