import { readDrawing } from '../../../domain/modelling/diagrams/drawing.work.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { readXml } from '../../../platform/xml.ts';

const LIMITS = { depth: 64, elements: 1_000_000 };

export interface Shape {
  cell: string;
  card: string;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Where the cards of a drawing lie, and the lines between them; pages lie below each other. */
export function shapesOf(xml: string): { shapes: Shape[]; lines: { from: Shape; to: Shape }[] } {
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

/** Each model that stands as XML in a text. */
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
  // no model has a place left of or above its page
  let [left, above] = [0, 0];
  for (const { x, y } of shapes.values()) [left, above] = [Math.min(left, x), Math.min(above, y)];
  for (const shape of shapes.values()) Object.assign(shape, { x: shape.x - left, y: shape.y - above });
  return { shapes: [...shapes.values()], lines };
}
