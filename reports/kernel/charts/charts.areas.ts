import type { TreemapChart } from './charts.types.ts';

interface InTree {
  id: string;
  name: string;
  parent_id: string | null;
}

/** For each item the id of its topmost ancestor among the items (its own for a root), and all of these roots. */
function areasOf<T extends InTree>(
  items: readonly T[],
): { of(item: T): string; groups: { key: string; name: string }[] } {
  const byId = new Map(items.map((item) => [item.id, item]));
  const top = (item: T): T => {
    let at = item;
    // the parent can be archived, and so missing
    for (let above = byId.get(at.parent_id ?? ''); above; above = byId.get(at.parent_id ?? '')) at = above;
    return at;
  };
  const groups = items.filter((item) => top(item) === item).map(({ id, name }) => ({ key: id, name }));
  return { of: (item) => top(item).id, groups };
}

/** One tile per item in the area of its root, shaded by a number. */
export function areaTiles<T extends InTree>(
  items: readonly T[],
  shade: (item: T) => number,
): Pick<TreemapChart, 'kind' | 'unit' | 'even' | 'items' | 'groups'> {
  const areas = areasOf(items);
  return {
    kind: 'treemap',
    unit: 'count',
    even: true,
    items: items.map((item) => ({ name: item.name, value: 1, group: areas.of(item), shade: shade(item) })),
    groups: areas.groups,
  };
}
