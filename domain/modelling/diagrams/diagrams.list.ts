import Type from 'typebox';
import { embed, fragment, type Sql } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { survivingCard, withMerged } from '../../inventory/cards/merge/merge.redirect.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, readItem, runList } from '../../kernel/lists/lists.run.ts';
import type {
  Condition,
  Fragment,
  JsonText,
  ListParams,
  ListSpec,
  SortField,
} from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { Choice, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import { Diagram, sharesOf, VISIBILITY, visibilities, visibleDiagrams } from './diagrams.load.ts';
import { type CardFact, isOutdated } from './drawing.work.ts';
import { updateDrawing } from './drawings.store.ts';

const flag = (description: string) => Type.Boolean({ default: false, description });

export const diagramFilters = {
  card_id: Type.Optional(
    Type.String({ ...Uuid, description: 'Those that contain the card, or to which it is linked' }),
  ),
  mine: flag('Only your own'),
  favorites: flag('Only your favourites'),
  group_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those in the group' })),
  visibility: Type.Optional(
    Choice(visibilities, 'Only those that everybody sees, your private ones, or those that are shared'),
  ),
};

export const diagramSorts: Record<string, SortField> = {
  updated_at: { sql: 'd.updated_at', type: 'timestamptz', filled: true },
  created_at: { sql: 'd.created_at', type: 'timestamptz', immutable: true },
  name: { sql: 'lower(d.name)', type: 'text', filled: true },
};

const DRAWN = `select ${survivingCard('r.id')} as id from unnest(w.card_ids) r(id)`;
const LINKED = 'select k.card_id as id from diagram_cards k where k.diagram_id = d.id';

/** An aggregate over the cards that the caller sees, of a query of ids. */
function overVisible(ctx: Ctx, aggregate: string, cards: string): Fragment {
  const visible = visibleCards(ctx);
  return fragment`(select ${embed(aggregate)} from (${embed(cards)}) k join cards c on c.id = k.id
    where ${embed(visible)})`;
}
const IDS = `coalesce(json_agg(distinct c.id), '[]')`;

/** Whether the caller may change a diagram. */
function editable(ctx: Ctx): Fragment {
  const me = ctx.caller.userId;
  return fragment`(${may(ctx.caller, 'diagrams.manage')}::boolean
    and (d.private_to is null or d.private_to = ${me}::uuid or d.shared_with
      @> jsonb_build_array(jsonb_build_object('user_id', ${me}::text, 'can_edit', true))))`;
}

const {
  drawing: _drawing,
  settings: _settings,
  private_to: _private,
  shared_with: _shares,
  ...columns
} = columnMembers('d', Diagram);

/** Diagrams over the aliases `d`, `w` of the drawing and `u` of the owner. */
function diagramList(ctx: Ctx): ListSpec {
  return {
    name: 'diagrams',
    from: 'diagrams d join diagram_drawings w on w.id = d.drawing left join users u on u.id = d.created_by',
    id: 'd.id',
    sorts: diagramSorts,
    defaultSort: 'updated_at',
    defaultDir: 'desc',
    search: `fold(d.name || ' ' || coalesce(d.description, ''))`,
    filters: { group_id: 'd.group_ids @> array[?::uuid]', visibility: `(${VISIBILITY}) = ?` },
    members: {
      ...columns,
      card_ids: overVisible(ctx, IDS, LINKED),
      group_ids: `(select coalesce(json_agg(g.id order by g.sort_order, lower(g.name), g.id), '[]')
        from diagram_groups g where g.id = any(d.group_ids))`,
      card_count: overVisible(ctx, 'count(*)::int', `${LINKED} union ${DRAWN}`),
      visibility: VISIBILITY,
      shared_with: sharesOf(ctx),
      can_edit: editable(ctx),
      created_by_name: 'u.display_name',
      is_favorite: fragment`exists (select from diagram_favorites f
        where f.diagram_id = d.id and f.user_id = ${ctx.caller.userId}::uuid)`,
    },
  };
}

/** The diagrams that the caller sees, last changed first. @throws EstateError `forbidden`. */
export async function listDiagrams(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof diagramFilters>,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  const me = ctx.caller.userId;
  const where: Condition[] = [visibleDiagrams(ctx)];
  if (params.card_id !== undefined) where.push(await withCard(ctx, params.card_id));
  if (params.mine) where.push(fragment`d.created_by = ${me}::uuid`);
  if (params.favorites) {
    const sql = 'd.id in (select f.diagram_id from diagram_favorites f where f.user_id = ?::uuid)';
    where.push({ sql, bindings: [me] });
  }
  return await runList(ctx, diagramList(ctx), where, params);
}

/** Diagrams that are linked to a visible card, or that contain it or a card that was merged into it. */
async function withCard(ctx: Ctx, cardId: string): Promise<Condition> {
  const visible = visibleCards(ctx);
  const id = cardId.toLowerCase();
  return fragment`(d.id in (select k.diagram_id from diagram_cards k where k.card_id = ${id}::uuid)
        or d.drawing in (select x.id from diagram_drawings x
        where x.card_ids && ${await withMerged(ctx.db, id)}::uuid[]))
      and exists (select from cards c where c.id = ${id}::uuid and ${embed(visible)})`;
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
  const list = diagramList(ctx);
  const { thumbnail: _, card_count: __, ...members } = list.members;
  const spec = {
    ...list,
    members: { ...members, card_refs: overVisible(ctx, IDS, DRAWN), stored: stored(ctx) },
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
  const visible = visibleCards(ctx);
  return fragment`json_build_object('xml', w.xml, 'marked', w.marked, 'thumbnail', d.thumbnail, 'settings',
    d.settings, 'facts', (
      select json_agg(json_build_object('id', r.id, 'now', coalesce(c.id, r.id), 'was',
      w.card_names ->> r.id::text,
        'name', coalesce(c.name, w.card_names ->> r.id::text),
        'state',
        case when c.id is null then 'deleted' when c.status = 'ARCHIVED' then 'archived' else 'active' end))
      from unnest(w.card_ids) r(id) left join cards c on c.id = ${embed(survivingCard('r.id'))}
      where (c.id is null and w.card_names ->> r.id::text is not null)
      or (c.id is not null and ${embed(visible)})))`;
}
