import Type from 'typebox';
import { embed, fragment, type Sql } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { survivingCard, withMerged } from '../../inventory/cards/merge/merge.redirect.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import type { Condition, Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { Choice, Uuid } from '../../kernel/shapes.ts';
import { Diagram, sharesOf, VISIBILITY, visibilities, visibleDiagrams } from './diagrams.load.ts';
import { type CardFact, isOutdated } from './drawing.work.ts';
import { updateDrawing } from './drawings.store.ts';

const flag = (description: string) => Type.Boolean({ default: false, description });

const DRAWN = `select ${survivingCard('r.id')} as id from unnest(w.card_ids) r(id)`;
const LINKED = 'select k.card_id as id from diagram_cards k where k.diagram_id = d.id';

/** An aggregate over the cards that the caller sees, of a query of ids. */
const overVisible = (aggregate: string, cards: string) => (ctx: Ctx) =>
  fragment`(select ${embed(aggregate)} from (${embed(cards)}) k join cards c on c.id = k.id
    where ${embed(visibleCards(ctx))})`;
const IDS = `coalesce(json_agg(distinct c.id), '[]')`;

/** Whether a diagram is one of the caller's favourites. */
const isFavorite = ({ caller }: Ctx) =>
  fragment`d.id in (select f.diagram_id from diagram_favorites f where f.user_id = ${caller.userId}::uuid)`;

/** Whether the caller may change a diagram. */
function editable(ctx: Ctx): Fragment {
  const me = ctx.caller.userId;
  return fragment`(${may(ctx.caller, 'diagrams.manage')}::boolean
    and (d.private_to is null or d.private_to = ${me}::uuid or d.shared_with
      @> jsonb_build_array(jsonb_build_object('user_id', ${me}::text, 'can_edit', true))))`;
}

/** The diagrams that the caller sees, last changed first. */
export const diagramList = defineList({
  name: 'diagrams',
  permission: 'diagrams.view',
  from: 'diagrams d join diagram_drawings w on w.id = d.drawing left join users u on u.id = d.created_by',
  id: 'd.id',
  sorts: {
    ...columnSorts('d', Diagram, 'updated_at', 'created_at'),
    name: { sql: 'lower(d.name)', type: 'text', filled: true },
  },
  defaultSort: 'updated_at',
  defaultDir: 'desc',
  search: (ctx) => fragment`fold(concat_ws(' ', d.name, d.description, u.display_name,
    ${embed(overVisible("string_agg(c.name, ' ')", `${LINKED} union ${DRAWN}`)(ctx))}))`,
  filters: {
    card_id: Type.Optional(
      Type.String({ ...Uuid, description: 'Those that contain the card, or to which it is linked' }),
    ),
    mine: flag('Only your own'),
    favorites: flag('Only your favourites'),
    group_id: [
      Type.String({ ...Uuid, description: 'Only those in the group' }),
      'd.group_ids @> array[?::uuid]',
    ],
    visibility: [
      Choice(visibilities, 'Only those that everybody sees, your private ones, or those that are shared'),
      `(${VISIBILITY}) = ?`,
    ],
  },
  members: {
    ...columnMembers('d', Diagram.shown),
    card_ids: overVisible(IDS, LINKED),
    group_ids: `(select coalesce(json_agg(g.id order by g.sort_order, lower(g.name), g.id), '[]')
      from diagram_groups g where g.id = any(d.group_ids))`,
    card_count: overVisible('count(*)::int', `${LINKED} union ${DRAWN}`),
    visibility: VISIBILITY,
    shared_with: sharesOf,
    can_edit: editable,
    created_by_name: 'u.display_name',
    is_favorite: isFavorite,
  },
  async where(ctx, { card_id, mine, favorites }) {
    const where: Condition[] = [visibleDiagrams(ctx)];
    if (card_id !== undefined) where.push(await withCard(ctx, card_id));
    if (mine) where.push(fragment`d.created_by = ${ctx.caller.userId}::uuid`);
    if (favorites) where.push(isFavorite(ctx));
    return where;
  },
});

/** Diagrams that are linked to a visible card, or that contain it or a card that was merged into it. */
async function withCard(ctx: Ctx, cardId: string): Promise<Condition> {
  const id = cardId.toLowerCase();
  return fragment`(d.id in (select k.diagram_id from diagram_cards k where k.card_id = ${id}::uuid)
        or d.drawing in (select x.id from diagram_drawings x
        where x.card_ids && ${await withMerged(ctx.db, id)}::uuid[]))
      and exists (select from cards c where c.id = ${id}::uuid and ${embed(visibleCards(ctx))})`;
}

/** One diagram with its drawing. @throws EstateError `forbidden`, `not_found`. */
export async function readDiagram(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  return await diagramText(ctx.db, ctx, id);
}

interface Stored {
  xml: string;
  marked: boolean;
  thumbnail: string | null;
  settings: Record<string, unknown>;
  facts: CardFact[] | null;
}

/**
 * One visible diagram as its JSON text; the drawing is updated to the cards that the caller sees.
 * @throws EstateError `not_found`.
 */
export async function diagramText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText> {
  const list = listFor(ctx, diagramList);
  const { thumbnail: _, card_count: __, ...members } = list.members;
  const spec = {
    ...list,
    members: { ...members, card_refs: overVisible(IDS, DRAWN)(ctx), stored: stored(ctx) },
  };
  const text = await readItem(sql, spec, 'diagram', id, [visibleDiagrams(ctx)]);
  const { stored: drawn, ...diagram } = JSON.parse(text) as { stored: Stored };
  const facts = drawn.facts ?? [];
  const xml = isOutdated(facts, drawn.marked) ? await updateDrawing(drawn.xml, facts) : drawn.xml;
  const thumbnail = drawn.thumbnail === null ? {} : { thumbnail: drawn.thumbnail };
  return JSON.stringify({ ...diagram, data: { ...drawn.settings, xml, ...thumbnail } });
}

/** The stored drawing, with the current state of those of its cards that the caller sees. */
function stored(ctx: Ctx): Fragment {
  return fragment`json_build_object('xml', w.xml, 'marked', w.marked, 'thumbnail', d.thumbnail, 'settings',
    d.settings, 'facts', (
      select json_agg(json_build_object('id', r.id, 'now', coalesce(c.id, r.id), 'was',
      w.card_names ->> r.id::text,
        'name', coalesce(c.name, w.card_names ->> r.id::text),
        'state',
        case when c.id is null then 'deleted' when c.status = 'ARCHIVED' then 'archived' else 'active' end))
      from unnest(w.card_ids) r(id) left join cards c on c.id = ${embed(survivingCard('r.id'))}
      where (c.id is null and w.card_names ->> r.id::text is not null)
      or (c.id is not null and ${embed(visibleCards(ctx))})))`;
}
