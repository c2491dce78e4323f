/** How the values of several cards become the value of a box. */
const rules = ['worst', 'mean', 'share', 'sum', 'max'] as const;
export type Rule = (typeof rules)[number];

/** What the address of the map says; defaults are left out. */
export interface MapSearch {
  /** The type of the boxes. */
  boxes?: string;
  /** The type of the cards in them. */
  inside?: string;
  /** `count`, `phase`, `data_quality`, the key of a field of the cards inside, or `own.` and one of the boxes. */
  colour?: string;
  rule?: Rule;
  /** 1 to 3. */
  levels?: number;
  /** The box whose parts are shown. */
  root?: string;
  /** A condition on the cards inside, in the filter language. */
  filter?: string;
  /** A card: only cards inside that are related to it. */
  scope?: string;
  /** A day in the past. */
  as_of?: string;
  /** The chosen box. */
  peek?: string;
  /** The key of the legend that is raised. */
  only?: string;
  view?: 'table';
  sort?: string;
}

const text = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;

/** Reads the address; what is not understood is left out. */
export function readMapSearch(search: Record<string, unknown>): MapSearch {
  const levels = Number(search.levels);
  return {
    boxes: text(search.boxes),
    inside: text(search.inside),
    colour: text(search.colour),
    rule: rules.find((rule) => rule === search.rule),
    levels: levels === 1 || levels === 2 ? levels : undefined,
    root: text(search.root),
    filter: text(search.filter),
    scope: text(search.scope),
    as_of: text(search.as_of),
    peek: text(search.peek),
    only: text(search.only),
    view: search.view === 'table' ? 'table' : undefined,
    sort: text(search.sort),
  };
}
