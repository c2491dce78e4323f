import Type, { type Static } from 'typebox';
import { DATA_FLOW } from '../../../domain/inventory/data-flows/data-flows.model.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { Choice, Count, component, Key, object, optional, Uuid } from '../../../domain/kernel/shapes.ts';
import { htmlText } from '../../../domain/modelling/diagrams/drawing.work.ts';
import { embed, fragment, joinFragments, query } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import { xmlAttribute } from '../../../platform/xml.ts';
import { normalised, textOn } from '../../kernel/charts/charts.colours.ts';
import { schemes } from '../../kernel/charts/charts.tokens.ts';
import type { FlowDirection } from '../../kernel/charts/charts.types.ts';
import { activeCards, reportCards } from '../../kernel/report.cards.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import { dataFlowLabels, flowOfRelation } from '../../kernel/report.flows.ts';
import { typeOf } from '../../kernel/report.params.ts';
import { layoutLayers } from './generate.layers.ts';
import { type CardGroup, layoutGroups } from './generate.shelves.ts';
import type { Box, DrawnCard, DrawnRelation, Layout } from './generate.types.ts';

const View = Choice(['dependencies', 'landscape']);

/** What is drawn; `card_id`, or `type` and `group_by`, are required by the view. */
export const GenerateRequest = object({
  view: View,
  card_id: Type.Optional(Type.String({ ...Uuid, description: 'For dependencies: the central card' })),
  depth: Type.Integer({ minimum: 1, maximum: 3, default: 1, description: 'Maximum distance in relations' }),
  direction: Choice(['both', 'outgoing', 'incoming'], {
    default: 'both',
    description:
      'Whether relations and data flows are followed to their targets, to their sources, or both; where data flows, to where it goes or where it comes from',
  }),
  relation_types: Type.Array(Key, {
    default: [],
    maxItems: 200,
    description: 'Only these, `data-flow` for data flows; empty: all',
  }),
  ...optional({
    type: Type.String({ ...Key, description: 'For a landscape: the type of its cards' }),
    group_by: Type.String({
      ...Key,
      description: 'For a landscape: the type of the cards that they are grouped by',
    }),
    filter: Type.String({ maxLength: 4000, description: 'Only these cards, in the filter language' }),
  }),
  max_cards: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
});
type GenerateRequest = Static<typeof GenerateRequest>;

export const GeneratedDrawingSchema = component('GeneratedDrawing', {
  view: View,
  title: Type.String(),
  xml: Type.String({ description: 'draw.io XML' }),
  card_ids: Type.Array(Uuid, { description: 'Cards in the diagram' }),
  relation_count: Count,
  truncated: Type.Boolean({ description: 'Whether there are more cards' }),
});
type GeneratedDrawing = Static<typeof GeneratedDrawingSchema>;

/**
 * Generates a diagram of the dependencies of a card, or of the cards of a type grouped by another type.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`.
 */
export async function generateDrawing(ctx: Ctx, request: GenerateRequest): Promise<GeneratedDrawing> {
  requirePermission(ctx.caller, 'inventory.view');
  requirePermission(ctx.caller, 'relations.view');
  return request.view === 'dependencies' ? await dependencies(ctx, request) : await landscape(ctx, request);
}

async function dependencies(ctx: Ctx, request: GenerateRequest): Promise<GeneratedDrawing> {
  const { card_id, depth, direction, filter, max_cards: most } = request;
  if (card_id === undefined) throw invalidField('card_id', 'required', 'is required for this view');
  refuseOthers(request, ['type', 'group_by']);
  const known = [...ctx.metamodel.visibleRelationTypes, DATA_FLOW];
  const unknown = request.relation_types.findIndex((key) => !known.includes(key));
  if (unknown >= 0) {
    throw invalidField(`relation_types.${unknown}`, 'unknown_value', 'is not a relation type');
  }
  const relations = request.relation_types.length > 0 ? request.relation_types : known;
  const found = await readAround(ctx, { card_id, depth, direction, relations, filter, most });
  const title = `Dependencies around ${found.cards[0]!.name}`;
  return {
    view: 'dependencies',
    title,
    xml: drawnXml(layoutLayers(found.cards, found.relations), renderContextOf(ctx, title)),
    card_ids: found.cards.map(({ id }) => id),
    relation_count: found.relations.length,
    truncated: found.truncated,
  };
}

async function landscape(ctx: Ctx, request: GenerateRequest): Promise<GeneratedDrawing> {
  const { type, group_by, filter, max_cards: most } = request;
  if (type === undefined) throw invalidField('type', 'required', 'is required for this view');
  if (group_by === undefined) throw invalidField('group_by', 'required', 'is required for this view');
  refuseOthers(request, ['card_id']);
  const [kind, frame] = [typeOf(ctx, 'type', type), typeOf(ctx, 'group_by', group_by)];
  const rest = `No ${frame.label}`;
  const { groups, truncated } = await readGroups(ctx, { type, group_by, filter, most, rest });
  const title = `${kind.label} by ${frame.label}`;
  const cards = groups.flatMap((group) => [...(group.card ? [group.card] : []), ...group.cards]);
  return {
    view: 'landscape',
    title,
    xml: drawnXml(layoutGroups(groups), renderContextOf(ctx, title)),
    card_ids: [...new Set(cards.map(({ id }) => id))],
    relation_count: 0,
    truncated,
  };
}

/** @throws EstateError naming a member that the view does not support. */
function refuseOthers(request: GenerateRequest, members: ('card_id' | 'type' | 'group_by')[]): void {
  const other = members.find((member) => request[member] !== undefined);
  if (other) throw invalidField(other, 'not_offered', `is not supported by the view ${request.view}`);
}

const GREY = '#607d8b';

function renderContextOf({ metamodel }: Ctx, title: string): RenderContext {
  const type = (key: string) => metamodel.cardTypes.get(key);
  return {
    title,
    color: (key) => (/^#[0-9a-f]{6}$/i.test(type(key)?.color ?? '') ? type(key)!.color : GREY),
    typeLabel: (key) => type(key)?.label ?? key,
    relationLabel: (key) =>
      key === DATA_FLOW ? dataFlowLabels.label : (metamodel.relationTypes.get(key)?.label ?? key),
  };
}

/** Colours and labels of cards and relations. */
interface RenderContext {
  title: string;
  /** The colour of a card type, as `#rrggbb`. */
  color(type: string): string;
  typeLabel(type: string): string;
  relationLabel(type: string): string;
}

const FRAME =
  'swimlane;html=1;startSize=32;rounded=1;arcSize=4;fontSize=13;fillColor=#eceff1;strokeColor=#90a4ae;';
const TITLE = 'text;html=1;align=left;verticalAlign=middle;fontSize=20;fontStyle=1;';
const EDGE =
  'edgeStyle=orthogonalEdgeStyle;rounded=1;html=1;endArrow=block;endFill=1;strokeColor=#607d8b;fontSize=10;labelBackgroundColor=#ffffff;';

/** The style of an edge with an arrow at both ends. */
const BOTH = 'startArrow=block;startFill=1;';

/** Writes a layout as draw.io XML; each card has its id, so that reads of the diagram update it. */
export function drawnXml({ groups, cards, edges }: Layout, look: RenderContext): string {
  const right = Math.max(600, ...[...groups, ...cards].map(({ x, width }) => x + width));
  const title = `<mxCell id="title" value="${attribute(look.title)}" style="${TITLE}" vertex="1" parent="1">${geometry({ x: 40, y: 20, width: right - 40, height: 40 })}</mxCell>`;
  const frames = groups.map((group, at) => {
    const cell = (id: string) =>
      `<mxCell${id} style="${FRAME}" vertex="1" parent="1">${geometry(group)}</mxCell>`;
    const id = `group-${at}`;
    if (group.card === null) {
      return cell(` id="${id}" value="${attribute(group.label)}"`);
    }
    return cardObject(id, group.card, look, cell(''));
  });
  const boxes = cards.map((placed, at) => {
    const parent = placed.within === undefined ? '1' : `group-${placed.within}`;
    return cardObject(
      `card-${at}`,
      placed.card,
      look,
      `<mxCell style="${styleOf(look.color(placed.card.type))}" vertex="1" parent="${parent}">${geometry(placed)}</mxCell>`,
    );
  });
  const lines = edges.map(
    ({ from, to, relation }, at) =>
      `<mxCell id="edge-${at}" value="${attribute(relation.label ?? look.relationLabel(relation.type))}" style="${EDGE}${relation.both ? BOTH : ''}" edge="1" parent="1" source="card-${from}" target="card-${to}"><mxGeometry relative="1" as="geometry"/></mxCell>`,
  );
  const root = ['<mxCell id="0"/>', '<mxCell id="1" parent="0"/>', title, ...frames, ...boxes, ...lines];
  return `<mxGraphModel grid="1" gridSize="10" page="0">\n<root>\n${root.join('\n')}\n</root>\n</mxGraphModel>`;
}

const attribute = (label: string): string => xmlAttribute(htmlText(label));

function cardObject(id: string, card: DrawnCard, look: RenderContext, cell: string): string {
  const kind = xmlAttribute(card.type);
  const tooltip = xmlAttribute(look.typeLabel(card.type));
  return `<UserObject id="${id}" label="${attribute(card.name)}" cardId="${card.id}" cardType="${kind}" tooltip="${tooltip}" link="/cards/${card.id}">${cell}</UserObject>`;
}

const geometry = ({ x, y, width, height }: Box): string =>
  `<mxGeometry x="${x}" y="${y}" width="${width}" height="${height}" as="geometry"/>`;

function styleOf(color: string): string {
  return `rounded=1;whiteSpace=wrap;html=1;arcSize=12;fillColor=${color};strokeColor=none;fontColor=${textOn(normalised(color) ?? schemes.light.others, schemes.light)};spacing=6;`;
}

interface DependenciesRequest {
  card_id: string;
  depth: number;
  direction: 'both' | 'outgoing' | 'incoming';
  /** Keys of relation types. */
  relations: string[];
  filter?: string;
  most: number;
}

interface FoundGraph {
  /** The central card first, then by distance. */
  cards: DrawnCard[];
  relations: DrawnRelation[];
  truncated: boolean;
}

/** Reads the cards around one, hop by hop, up to a maximum. @throws EstateError `not_found`, and as the filter's. */
async function readAround(ctx: Ctx, asked: DependenciesRequest): Promise<FoundGraph> {
  const active = activeCards(ctx);
  const middle = await query(ctx.db)
    .rows`select c.id, c.name, c.type from cards c where c.id = ${asked.card_id}::uuid and ${embed(active)}`;
  if (!middle[0]) throw notFound('card', asked.card_id);
  const near = await reportCards(ctx, asked.filter);
  const cards: DrawnCard[] = [middle[0]];
  let front = [middle[0].id as string];
  let truncated = false;
  const links = linksOf(asked.relations);
  const out = (front: string[]) => fragment`
    select l.target_id as id from ${embed(links)} l
    where l.source_id = any(${front}::uuid[]) and l.flow is distinct from 'reverse'
    union select l.source_id from ${embed(links)} l
    where l.target_id = any(${front}::uuid[]) and l.flow in ('reverse', 'bidirectional')`;
  const into = (front: string[]) => fragment`
    select l.source_id as id from ${embed(links)} l
    where l.target_id = any(${front}::uuid[]) and l.flow is distinct from 'reverse'
    union select l.target_id from ${embed(links)} l
    where l.source_id = any(${front}::uuid[]) and l.flow in ('reverse', 'bidirectional')`;
  const ways = { both: [out, into], outgoing: [out], incoming: [into] }[asked.direction];
  for (let hop = 0; hop < asked.depth && front.length > 0 && !truncated; hop += 1) {
    const room = asked.most - cards.length;
    const reached = ways.map((way) => way(front));
    const rows = await query(ctx.db).rows<DrawnCard>`
      select c.id, c.name, c.type from (${embed(joinFragments(reached, ' union '))}) near join cards c on c.id = near.id
      where c.id <> all(${cards.map(({ id }) => id)}::uuid[]) and ${embed(near)} order by c.name_key, c.id limit ${room + 1}`;
    truncated = rows.length > room;
    front = rows.slice(0, room).map(({ id }) => id);
    cards.push(...rows.slice(0, room));
  }
  const ids = cards.map(({ id }) => id);
  const found = await query(ctx.db).rows<FoundLink>`select l.*, ${embed(objectsOf(active))} as label
    from ${embed(links)} l
    where l.source_id = any(${ids}::uuid[]) and l.target_id = any(${ids}::uuid[])
    order by l.source_id, l.target_id, l.type, l.id`;
  const { relationTypes } = ctx.metamodel;
  const relations = found.map(({ source_id, target_id, type, flow, label }): DrawnRelation => {
    const isReversed = flow === 'reverse';
    return {
      type,
      source: isReversed ? target_id : source_id,
      target: isReversed ? source_id : target_id,
      label: label ?? (isReversed ? relationTypes.get(type)?.reverse_label : null),
      both: flow === 'bidirectional',
    };
  });
  return { cards, relations, truncated };
}

interface FoundLink {
  source_id: string;
  target_id: string;
  type: string;
  flow: FlowDirection | null;
  label: string | null;
}

/** Relations of some types, and data flows, as a subquery. */
function linksOf(types: readonly string[]): Fragment {
  const flows = fragment`union all select f.id, f.source_id, f.target_id, ${DATA_FLOW}, f.direction, f.data_object_ids
    from data_flows f`;
  return fragment`(select r.id, r.source_id, r.target_id, r.type, ${embed(flowOfRelation)} as flow,
      '{}'::uuid[] as data_object_ids
    from relations r where r.type = any(${types}::text[])
    ${embed(types.includes(DATA_FLOW) ? flows : '')})`;
}

/** The names of the visible data objects of the link `l`. */
const objectsOf = (active: Fragment): Fragment =>
  fragment`(select string_agg(c.name, ', ' order by c.name_key, c.id) from cards c
    where c.id = any(l.data_object_ids) and ${embed(active)})`;

interface Grouped {
  type: string;
  group_by: string;
  filter?: string;
  most: number;
  /** The label of the frame for cards without a group. */
  rest: string;
}

/** Reads the cards of a type by related cards of another type; a card can be in several groups. */
async function readGroups(
  ctx: Ctx,
  { type, group_by, filter, most, rest }: Grouped,
): Promise<{ groups: CardGroup[]; truncated: boolean }> {
  const cards = await reportCards(ctx, filter);
  const active = activeCards(ctx);
  const pairs = relatedPairs(ctx, type, group_by);
  const rows = await query(ctx.db)
    .rows`with n as (select c.id, c.name, c.type, c.name_key from cards c where c.type = ${type} and ${embed(cards)}),
     g as (select c.id, c.name, c.type, c.name_key from cards c where c.type = ${group_by} and ${embed(active)}),
     p as (select ${embed(pairs.once)} e.card_id, e.other_id from (${embed(pairs)}) e join g on g.id = e.other_id)
     select json_build_object('id', n.id, 'name', n.name, 'type', n.type) as card,
       case when g.id is not null then json_build_object('id', g.id, 'name', g.name, 'type', g.type) end as "group"
     from n left join p on p.card_id = n.id left join g on g.id = p.other_id
     order by g.id is null, g.name_key, g.id, n.name_key, n.id limit ${most + 1}`;
  const groups = new Map<string, CardGroup>();
  for (const { card, group } of rows.slice(0, most) as { card: DrawnCard; group: DrawnCard | null }[]) {
    const key = group?.id ?? '';
    const known = groups.get(key) ?? { card: group, label: group?.name ?? rest, cards: [] };
    groups.set(key, known);
    known.cards.push(card);
  }
  return { groups: [...groups.values()], truncated: rows.length > most };
}
