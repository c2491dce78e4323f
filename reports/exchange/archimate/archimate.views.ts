import type { Ctx } from '../../../domain/kernel/context.ts';
import { diagramText } from '../../../domain/modelling/diagrams/diagrams.list.ts';
import { visibleDiagrams } from '../../../domain/modelling/diagrams/diagrams.load.ts';
import { EstateError } from '../../../platform/errors.ts';
import { xmlText } from '../../../platform/xml.ts';
import type { Definitions } from './archimate.properties.ts';
import { type Shape, shapesOf } from './archimate.shapes.ts';

/** A diagram with the places of its cards. */
export interface PlacedView {
  id: string;
  shapes: Shape[];
  lines: { from: Shape; to: Shape }[];
}

interface Drawn {
  id: string;
  name: string;
  description: string | null;
  data: { xml: string; thumbnail?: string };
  card_ids: string[];
  group_ids: string[];
  visibility: string;
  shared_with: { user_id: string; can_edit: boolean }[];
}

/** The diagrams that the caller sees; their drawings are read one by one, and not kept. */
export async function readViews(ctx: Ctx): Promise<PlacedView[]> {
  const visible = visibleDiagrams(ctx);
  const { rows } = await ctx.db.raw(
    `select d.id from diagrams d where ${visible.sql} order by d.id`,
    visible.bindings,
  );
  const views: PlacedView[] = [];
  for (const { id } of rows as { id: string }[]) {
    const drawn = await read(ctx, id);
    if (drawn) views.push({ id, ...shapesOf(drawn.data.xml) });
  }
  return views;
}

/** A diagram, or undefined where it has been deleted meanwhile. */
async function read(ctx: Ctx, id: string): Promise<Drawn | undefined> {
  try {
    return JSON.parse(await diagramText(ctx.db, ctx, id));
  } catch (error) {
    if (error instanceof EstateError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** With whom a diagram is shared, by the addresses by which people are known everywhere. */
async function byAddress(
  ctx: Ctx,
  shares: Drawn['shared_with'],
): Promise<{ email: string; can_edit: boolean }[]> {
  const editors = new Map(shares.map(({ user_id, can_edit }) => [user_id, can_edit]));
  const people: { id: string; email: string }[] = await ctx
    .db('users')
    .whereIn('id', [...editors.keys()])
    .orderByRaw('lower(email)')
    .select('id', 'email');
  return people.map(({ id, email }) => ({ email, can_edit: editors.get(id)! }));
}

export interface ViewSurroundings {
  /** The cards of the model. */
  ids: ReadonlySet<string>;
  /** Relations of the model by `<source> <target>`. */
  joined: ReadonlyMap<string, string>;
  definitions: Definitions;
}

/** A diagram as a view: its cards as nodes, its lines as connections, and all else as properties. */
export async function viewXml(
  ctx: Ctx,
  { id, shapes, lines }: PlacedView,
  { ids, joined, definitions }: ViewSurroundings,
): Promise<string> {
  const drawn = await read(ctx, id);
  if (!drawn) return '';
  const { name, description, card_ids, group_ids, visibility, shared_with } = drawn;
  const { xml, thumbnail, ...settings } = drawn.data;
  const groups = await ctx
    .db('diagram_groups')
    .whereIn('id', group_ids)
    .orderByRaw('lower(name)')
    .select('name', 'color', 'sort_order');
  const properties = definitions.xml([
    ['id', id],
    ['visibility', visibility],
    ['shared_with', shared_with.length > 0 ? await byAddress(ctx, shared_with) : null],
    ['card_ids', card_ids.length > 0 ? card_ids : null],
    ['groups', groups.length > 0 ? groups : null],
    ['settings', Object.keys(settings).length > 0 ? settings : null],
    ['thumbnail', thumbnail ?? null],
    ['drawing', xml],
    ...definitions.unwritable({ description }),
  ]);
  const nodes = new Map(
    shapes.filter(({ card }) => ids.has(card)).map((shape, at) => [shape, `node-${id}-${at}`]),
  );
  const boxes = [...nodes].map(
    ([{ card, x, y, w, h }, node]) =>
      `<node identifier="${node}" elementRef="id-${card}" xsi:type="Element" x="${x}" y="${y}" w="${w}" h="${h}"/>`,
  );
  const connections = lines.flatMap(({ from, to }, at) => {
    const [source, target] = [nodes.get(from), nodes.get(to)];
    if (!source || !target) return [];
    const relation = joined.get(`${from.card} ${to.card}`) ?? joined.get(`${to.card} ${from.card}`);
    const kind = relation ? `relationshipRef="id-${relation}" xsi:type="Relationship"` : 'xsi:type="Line"';
    return `<connection identifier="line-${id}-${at}" ${kind} source="${source}" target="${target}"/>`;
  });
  const said =
    description === null ? '' : `<documentation xml:lang="en">${xmlText(description)}</documentation>`;
  return `<view identifier="id-${id}" xsi:type="Diagram"><name xml:lang="en">${xmlText(name)}</name>${said}${properties}${boxes.join('')}${connections.join('')}</view>\n`;
}
