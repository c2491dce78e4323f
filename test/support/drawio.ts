import { childrenOf, rootOf, type XmlElement } from './dom.ts';

interface Cell {
  id: string;
  /** The `mxCell`, within its `UserObject` where it has one. */
  cell: XmlElement;
  at: { x: number; y: number; width: number; height: number } | undefined;
}

/**
 * What is wrong with a drawing by the rules of draw.io's own format: a root with cells, the first two of which are the
 * model's root and its only layer; ids that are unique; parents that come before; boxes with a place and a size; edges
 * between boxes that are there; and, as far as a reader is concerned, no two boxes over each other.
 */
export function drawingFaults(xml: string): string[] {
  const faults: string[] = [];
  const model = rootOf(xml);
  if (model.tagName !== 'mxGraphModel') faults.push(`the root is ${model.tagName}`);
  const [root, ...others] = childrenOf(model);
  if (root?.tagName !== 'root' || others.length > 0) faults.push('the model holds more than its root');
  const cells = new Map<string, Cell>();
  const boxes: (Cell & { parent: string })[] = [];
  for (const [n, element] of childrenOf(root!).entries()) {
    const isObject = element.tagName === 'UserObject' || element.tagName === 'object';
    const inner = isObject ? childrenOf(element) : [element];
    const cell = inner[0];
    const id = element.getAttribute('id') ?? '';
    const fault = (why: string) => faults.push(`cell ${n} (${id}) ${why}`);
    if (inner.length !== 1 || cell?.tagName !== 'mxCell') {
      fault('is no cell');
      continue;
    }
    if (isObject && cell.hasAttribute('id')) fault('has an id within its object');
    if (id === '' || cells.has(id)) fault('has no id of its own');
    const parent = cell.getAttribute('parent') ?? '';
    const [isBox, isEdge] = [cell.getAttribute('vertex') === '1', cell.getAttribute('edge') === '1'];
    if (n < 2) {
      if (id !== `${n}` || parent !== (n === 0 ? '' : '0') || isBox || isEdge)
        fault('is no root and no layer');
    } else {
      if (!cells.has(parent) || parent === '0') fault(`lies in ${parent}, which is not there`);
      if (isBox === isEdge) fault('is neither a box nor an edge');
    }
    const geometry = childrenOf(cell).find(({ tagName }) => tagName === 'mxGeometry');
    if (n > 1 && geometry?.getAttribute('as') !== 'geometry') fault('has no geometry');
    const number = (name: string) => Number(geometry?.getAttribute(name) || Number.NaN);
    const at = { x: number('x'), y: number('y'), width: number('width'), height: number('height') };
    const isPlaced = Object.values(at).every(Number.isFinite) && at.width > 0 && at.height > 0;
    if (isBox && !isPlaced) fault('has no place');
    if (isEdge && geometry?.getAttribute('relative') !== '1') fault('has no geometry of an edge');
    const known: Cell = { id, cell, at: isBox ? at : undefined };
    if (isBox) boxes.push({ ...known, parent });
    cells.set(id, known);
  }
  for (const { id, cell } of cells.values()) {
    if (cell.getAttribute('edge') !== '1') continue;
    for (const end of ['source', 'target']) {
      if (!cells.get(cell.getAttribute(end) ?? '')?.at) faults.push(`edge ${id} has no ${end}`);
    }
  }
  // by their left sides, so that few pairs are compared
  for (const [parent, within] of Map.groupBy(boxes, ({ parent }) => parent)) {
    const frame = cells.get(parent)?.at;
    const sorted = within.toSorted((a, b) => a.at!.x - b.at!.x);
    for (const [n, { id, at }] of sorted.entries()) {
      if (
        frame &&
        (at!.x < 0 || at!.y < 0 || at!.x + at!.width > frame.width || at!.y + at!.height > frame.height)
      )
        faults.push(`box ${id} does not lie within ${parent}`);
      for (const other of sorted.slice(n + 1)) {
        if (other.at!.x >= at!.x + at!.width) break;
        if (other.at!.y < at!.y + at!.height && at!.y < other.at!.y + other.at!.height)
          faults.push(`boxes ${id} and ${other.id} lie over each other`);
      }
    }
  }
  return faults;
}
