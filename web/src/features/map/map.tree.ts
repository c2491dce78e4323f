/** A card in a box. */
export interface Member {
  id: string;
  name: string;
  /** What colours it. */
  value: string | number | null;
  cost: number | null;
}

export interface MapBox {
  id: string;
  name: string;
  /** Its own value of the field that colours the boxes, if it is one of theirs. */
  value: string | number | null;
  parent: MapBox | undefined;
  children: MapBox[];
  /** The cards that are related to the box itself. */
  own: Member[];
  /** Those and all of the boxes below, each once. */
  all: ReadonlyMap<string, Member>;
  /** Boxes below. */
  below: number;
  /** Boxes without parts and without cards, in the subtree. */
  gaps: number;
}

export interface MapTree {
  roots: MapBox[];
  byId: ReadonlyMap<string, MapBox>;
}

export interface BoxRow {
  id: string;
  name: string;
  parent: string | null;
  value: string | number | null;
}

export interface MemberRow extends Member {
  box: string;
}

/** Builds the tree of the boxes with what is in each. Boxes whose parent is unknown are roots. */
export function buildTree(boxes: readonly BoxRow[], members: readonly MemberRow[]): MapTree {
  const empty = { parent: undefined, below: 0, gaps: 0 };
  const byId = new Map(
    boxes.map(({ id, name, value }): [string, MapBox] => [
      id,
      { ...empty, id, name, value, children: [], own: [], all: new Map() },
    ]),
  );
  const known = new Map<string, Member>();
  const seen = new Set<string>();
  for (const { box, ...member } of members) {
    // one object for each card, so that it can be counted once
    const one = known.get(member.id) ?? member;
    known.set(member.id, one);
    const pair = `${box} ${member.id}`;
    if (!seen.has(pair)) byId.get(box)?.own.push(one);
    seen.add(pair);
  }
  const roots: MapBox[] = [];
  for (const { id, parent } of boxes) {
    const box = byId.get(id)!;
    const above = parent === null ? undefined : byId.get(parent);
    if (above && above !== box) {
      box.parent = above;
      above.children.push(box);
    } else roots.push(box);
  }
  const { compare } = new Intl.Collator();
  const byName = (a: MapBox, b: MapBox) => compare(a.name, b.name);
  const sum = (box: MapBox): void => {
    box.children.sort(byName);
    const all = new Map(box.own.map((member) => [member.id, member]));
    for (const child of box.children) {
      sum(child);
      for (const [id, member] of child.all) all.set(id, member);
      box.below += child.below + 1;
      box.gaps += child.gaps;
    }
    box.all = all;
    if (box.children.length === 0 && all.size === 0) box.gaps = 1;
  };
  for (const root of roots.sort(byName)) sum(root);
  return { roots, byId };
}

/** The boxes above, root first. */
export function pathOf(box: MapBox): MapBox[] {
  const path: MapBox[] = [];
  for (let above = box.parent; above; above = above.parent) path.unshift(above);
  return path;
}

/** The boxes of a subtree, each before its parts. */
export function* subtree(boxes: readonly MapBox[]): Generator<MapBox> {
  for (const box of boxes) {
    yield box;
    yield* subtree(box.children);
  }
}

/** The boxes that are drawn without parts at a number of levels. */
export const leavesAt = (boxes: readonly MapBox[], levels: number): MapBox[] =>
  boxes.flatMap((box) => (isLeafAt(box, levels) ? [box] : leavesAt(box.children, levels - 1)));

/** Whether a box is drawn without its parts if `levels` are left, its own included. */
export const isLeafAt = ({ children }: MapBox, levels: number): boolean =>
  levels <= 1 || children.length === 0;

/** The known costs of cards together; null if none is known. */
export const costOf = (members: Iterable<Member>): number | null => {
  let total: number | null = null;
  for (const { cost } of members) if (cost !== null) total = (total ?? 0) + cost;
  return total;
};

/** The first items of an order, without putting all in order. */
export function firstOf<T>(items: Iterable<T>, count: number, compare: (a: T, b: T) => number): T[] {
  const first: T[] = [];
  for (const item of items) {
    const at = first.findIndex((one) => compare(item, one) < 0);
    if (at < 0 && first.length === count) continue;
    first.splice(at < 0 ? first.length : at, 0, item);
    first.length = Math.min(first.length, count);
  }
  return first;
}
