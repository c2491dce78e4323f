import { isWritable, PREFIX, propertyOf } from '../../../domain/exchange/archimate/archimate.map.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { diagramText } from '../../../domain/modelling/diagrams/diagrams.list.ts';
import { visibleDiagrams } from '../../../domain/modelling/diagrams/diagrams.load.ts';
import { readDrawing } from '../../../domain/modelling/diagrams/drawing.work.ts';
import { embed, query } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { readXml, xmlText } from '../../../platform/xml.ts';

/** Collects property definitions of a model as its properties are written. */
interface Definitions {
  /** Writes properties as XML in the given order, without empty values. */
  xml(values: Iterable<[string, unknown]>): string;
  /** Writes texts that no ArchiMate element can represent. */
  unwritable(texts: Record<string, unknown>): [string, unknown][];
  /** Writes all definitions that were used so far. */
  definitionsXml(): string;
}

export function createDefinitions(): Definitions {
  const defined = new Map<string, string>();
  return {
    xml(values) {
      const parts: string[] = [];
      for (const [name, value] of values) {
        if (value === null || value === undefined) continue;
        const { key, text } = propertyOf(name, value);
        if (!defined.has(key)) defined.set(key, `prop-${defined.size + 1}`);
        parts.push(
          `<property propertyDefinitionRef="${defined.get(key)}"><value xml:lang="en">${xmlText(text)}</value></property>`,
        );
      }
      return parts.length > 0 ? `<properties>${parts.join('')}</properties>` : '';
    },
    unwritable: (texts) =>
      Object.entries(texts).filter(([, text]) => typeof text === 'string' && !isWritable(text)),
    definitionsXml() {
      if (defined.size === 0) return '';
      const each = [...defined].map(
        ([key, id]) =>
          `<propertyDefinition identifier="${id}" type="string"><name>${xmlText(PREFIX + key)}</name></propertyDefinition>\n`,
      );
      return `<propertyDefinitions>\n${each.join('')}</propertyDefinitions>\n`;
    },
  };
}

/** A diagram with the coordinates of its cards. */
interface PlacedView {
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

/** Reads the diagrams that the caller sees, one drawing at a time to bound memory. */
export async function readViews(ctx: Ctx): Promise<PlacedView[]> {
  const ids = await query(ctx.db)
    .column<string>`select d.id from diagrams d where ${embed(visibleDiagrams(ctx))} order by d.id`;
  const views: PlacedView[] = [];
  for (const id of ids) {
    const drawn = await read(ctx, id);
    if (drawn) views.push({ id, ...shapesOf(drawn.data.xml) });
  }
  return views;
}

/** Reads a diagram; undefined if it was deleted in the meantime. */
async function read(ctx: Ctx, id: string): Promise<Drawn | undefined> {
  try {
    return JSON.parse(await diagramText(ctx.db, ctx, id));
  } catch (error) {
    if (error instanceof EstateError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Reads with whom a diagram is shared, by email address: user ids are only valid in one workspace. */
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

interface ViewSurroundings {
  /** The cards of the model. */
  ids: ReadonlySet<string>;
  /** Relations of the model by `<source> <target>`. */
  joined: ReadonlyMap<string, string>;
  definitions: Definitions;
}

/** Writes a diagram as a view: cards as nodes, lines as connections, everything else as properties. */
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

const LIMITS = { depth: 64, elements: 1_000_000 };

interface Shape {
  cell: string;
  card: string;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Reads the coordinates of a drawing's cards and the lines between them; pages are stacked vertically. */
function shapesOf(xml: string): { shapes: Shape[]; lines: { from: Shape; to: Shape }[] } {
  const pages = [xml, ...readDrawing(xml).packed.map((page) => page.xml)];
  const found: ReturnType<typeof shapesOf> = { shapes: [], lines: [] };
  let top = 0;
  for (const page of pages) {
    for (const { shapes, lines } of plainPages(page)) {
      let bottom = top;
      for (const shape of shapes) {
        shape.y += top;
        found.shapes.push(shape);
        bottom = Math.max(bottom, shape.y + shape.h);
      }
      for (const line of lines) found.lines.push(line);
      if (shapes.length > 0) top = bottom + 40;
    }
  }
  return found;
}

interface Cell {
  id: string;
  parent: string;
  card?: string;
  x: number;
  y: number;
  w: number;
  h: number;
  source?: string;
  target?: string;
}

/** Finds each uncompressed XML model in a text. */
function plainPages(xml: string): ReturnType<typeof shapesOf>[] {
  const pages: Cell[][] = [];
  let object: Record<string, string> | undefined;
  let cell: Cell | undefined;
  readXml(
    xml,
    {
      open({ name, attributes }) {
        if (name === 'mxGraphModel') pages.push([]);
        else if (name === 'object' || name === 'UserObject') object = attributes;
        else if (name === 'mxCell') {
          const card = (object?.cardId ?? attributes.cardId)?.trim().toLowerCase();
          cell = {
            id: object?.id ?? attributes.id ?? '',
            parent: attributes.parent ?? '',
            ...(card && isUuid(card) ? { card } : {}),
            ...{ x: 0, y: 0, w: 120, h: 60 },
            ...(attributes.edge === '1' ? { source: attributes.source, target: attributes.target } : {}),
          };
          pages.at(-1)?.push(cell);
        } else if (name === 'mxGeometry' && cell) {
          const number = (key: string, fallback: number) => {
            const value = Math.round(Number(attributes[key] ?? fallback));
            return Number.isFinite(value) && Math.abs(value) < 1e6 ? value : fallback;
          };
          Object.assign(cell, { x: number('x', 0), y: number('y', 0) });
          Object.assign(cell, { w: Math.max(1, number('width', 120)), h: Math.max(1, number('height', 60)) });
        }
      },
      close(name) {
        if (name === 'object' || name === 'UserObject') object = undefined;
        else if (name === 'mxCell') cell = undefined;
      },
    },
    LIMITS,
  );
  return pages.map(placed);
}

function placed(cells: Cell[]): ReturnType<typeof shapesOf> {
  const byId = new Map(cells.map((cell) => [cell.id, cell]));
  const shapes = new Map<string, Shape>();
  for (const cell of cells) {
    if (!cell.card) continue;
    let { x, y } = cell;
    const seen = new Set([cell.id]);
    for (let up = byId.get(cell.parent); up && !seen.has(up.id); up = byId.get(up.parent)) {
      seen.add(up.id);
      x += up.x;
      y += up.y;
    }
    shapes.set(cell.id, { cell: cell.id, card: cell.card, x, y, w: cell.w, h: cell.h });
  }
  const lines = cells.flatMap(({ source, target }) => {
    const [from, to] = [shapes.get(source ?? ''), shapes.get(target ?? '')];
    return from && to ? [{ from, to }] : [];
  });
  // views have no negative coordinates
  let [left, above] = [0, 0];
  for (const { x, y } of shapes.values()) [left, above] = [Math.min(left, x), Math.min(above, y)];
  for (const shape of shapes.values()) Object.assign(shape, { x: shape.x - left, y: shape.y - above });
  return { shapes: [...shapes.values()], lines };
}
