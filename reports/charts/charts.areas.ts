interface InTree {
  id: string;
  name: string;
  parent_id: string | null;
}

/** Tells for each item of some trees the name of the topmost above it that is there, its own for those on top. */
export function areasOf<T extends InTree>(items: readonly T[]): (item: T) => string {
  const byId = new Map(items.map((item) => [item.id, item]));
  return (item) => {
    let at = item;
    // a parent may be archived, and so not be there
    for (let above = byId.get(at.parent_id ?? ''); above; above = byId.get(at.parent_id ?? '')) at = above;
    return at.name;
  };
}
