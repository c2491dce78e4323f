const tabs = ['card', 'impact', 'path'] as const;
export type Tab = (typeof tabs)[number];

/** What the address of the explorer says; defaults are left out. */
export interface ExplorerSearch {
  /** The card in the middle. */
  center?: string;
  /** 1 to 3 relations; without it the neighbours, and where their data flows. */
  depth?: number;
  /** Cards whose neighbours are shown, too. */
  open?: string[];
  /** Bundles whose cards are listed, as layer and type. */
  show?: string[];
  /** Types that are left out. */
  hide?: string[];
  /** The chosen card. */
  peek?: string;
  tab?: Tab;
  /** The other end of the paths. */
  to?: string;
  /** The path that is raised, from 0. */
  path?: number;
  view?: 'list' | 'all';
  as_of?: string;
}

const text = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;

function texts(value: unknown): string[] | undefined {
  const known = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  return known.length > 0 ? known.slice(0, 50) : undefined;
}

/** Reads the address; what is not understood is left out. */
export function readExplorerSearch(search: Record<string, unknown>): ExplorerSearch {
  const depth = Number(search.depth);
  const path = Number(search.path);
  return {
    center: text(search.center),
    depth: depth === 1 || depth === 2 || depth === 3 ? depth : undefined,
    open: texts(search.open),
    show: texts(search.show),
    hide: texts(search.hide),
    peek: text(search.peek),
    tab: tabs.find((tab) => tab === search.tab),
    to: text(search.to),
    path: Number.isInteger(path) && path > 0 ? path : undefined,
    view: search.view === 'list' || search.view === 'all' ? search.view : undefined,
    as_of: text(search.as_of),
  };
}

/** A list with a value put in or taken out; undefined for an empty one. */
export function toggledIn(list: readonly string[] | undefined, value: string): string[] | undefined {
  const after = list?.includes(value) ? list.filter((one) => one !== value) : [...(list ?? []), value];
  return after.length > 0 ? after : undefined;
}
