import type { DrawnCard, DrawnRelation, Layout } from './generate.types.ts';

const CARD = { width: 180, height: 60 };
/** Gap between columns, with space for labelled lines, and between cards of a column. */
const GAP = { column: 160, row: 30 };
/** Maximum number of cards per column: a larger level has several columns. */
const ROWS = 10;
const MARGIN = 40;
const TITLE = 60;
const SWEEPS = 4;

/**
 * Lays out cards in columns by distance from the first card: targets on the right, sources on the left. Within a column, cards
 * are placed near their related cards.
 */
export function layoutLayers(cards: readonly DrawnCard[], relations: readonly DrawnRelation[]): Layout {
  const columns = columnsOf(cards, relations);
  const tallest = Math.max(0, ...columns.map((column) => column.length));
  const height = (count: number) => count * CARD.height + Math.max(0, count - 1) * GAP.row;
  const places = new Map<string, { x: number; y: number }>();
  for (const [at, column] of columns.entries()) {
    const top = MARGIN + TITLE + (height(tallest) - height(column.length)) / 2;
    for (const [row, { id }] of column.entries()) {
      places.set(id, {
        x: MARGIN + at * (CARD.width + GAP.column),
        y: Math.round(top + row * (CARD.height + GAP.row)),
      });
    }
  }
  const index = new Map(cards.map(({ id }, at) => [id, at]));
  return {
    groups: [],
    cards: cards.map((card) => ({ card, ...CARD, ...places.get(card.id)! })),
    edges: relations.map((relation) => ({
      from: index.get(relation.source)!,
      to: index.get(relation.target)!,
      relation,
    })),
  };
}

/** The cards by column, from left to right, each column in order. */
function columnsOf(cards: readonly DrawnCard[], relations: readonly DrawnRelation[]): DrawnCard[][] {
  const levels = levelsOf(cards, relations);
  const peers = new Map<string, string[]>(cards.map(({ id }) => [id, []]));
  for (const { source, target } of relations) {
    peers.get(source)!.push(target);
    peers.get(target)!.push(source);
  }
  const byLevel = [...new Set(levels.values())]
    .sort((a, b) => a - b)
    .map((level) => cards.filter(({ id }) => levels.get(id) === level).toSorted(byTypeAndName));
  const place = new Map<string, number>();
  const addLevel = (level: DrawnCard[]) => {
    for (const [at, { id }] of level.entries()) place.set(id, (at + 0.5) / level.length);
  };
  for (const level of byLevel) addLevel(level);
  // each sweep moves cards towards the mean position of their neighbours (barycenter heuristic)
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const level of sweep % 2 === 0 ? byLevel : byLevel.toReversed()) {
      const middle = new Map(
        level.map(({ id }) => {
          const near = peers.get(id)!.map((peer) => place.get(peer)!);
          return [id, near.length > 0 ? near.reduce((sum, at) => sum + at, 0) / near.length : place.get(id)!];
        }),
      );
      level.sort((a, b) => middle.get(a.id)! - middle.get(b.id)! || byTypeAndName(a, b));
      addLevel(level);
    }
  }
  return byLevel.flatMap((level) => {
    const count = Math.ceil(level.length / ROWS);
    const each = Math.ceil(level.length / count);
    return Array.from({ length: count }, (_, at) => level.slice(at * each, (at + 1) * each));
  });
}

const byTypeAndName = (a: DrawnCard, b: DrawnCard): number =>
  a.type.localeCompare(b.type) || a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);

/** Distance of each card from the first in relations, negative on the left; by breadth-first search. */
function levelsOf(cards: readonly DrawnCard[], relations: readonly DrawnRelation[]): Map<string, number> {
  const levels = new Map<string, number>(cards.slice(0, 1).map(({ id }) => [id, 0]));
  const out = new Map<string, string[]>();
  const into = new Map<string, string[]>();
  const add = (map: Map<string, string[]>, key: string, value: string) =>
    map.set(key, [...(map.get(key) ?? []), value]);
  for (const { source, target } of relations) {
    add(out, source, target);
    add(into, target, source);
  }
  const reached = [...levels.keys()];
  // the queue grows while it is iterated
  for (const id of reached) {
    const level = levels.get(id)!;
    const visit = (peer: string, side: number) => {
      if (levels.has(peer)) return;
      levels.set(peer, level + (level === 0 ? side : Math.sign(level)));
      reached.push(peer);
    };
    for (const peer of out.get(id) ?? []) visit(peer, 1);
    for (const peer of into.get(id) ?? []) visit(peer, -1);
  }
  const last = Math.max(0, ...levels.values());
  for (const { id } of cards) if (!levels.has(id)) levels.set(id, last + 1);
  return levels;
}
