import { filterText } from './filter.ts';

/** What the address of the inventory says; defaults are left out. */
export interface InventorySearch {
  type?: string;
  search?: string;
  /** A condition in the filter language. */
  filter?: string;
  /** Values by field, for links of other pages; they become part of `filter`. */
  where?: Record<string, (string | null)[]>;
  /** Fields separated by commas, each with `-` before it for descending. */
  sort?: string;
  /** Columns in order, each with its width in pixels if it is not the usual one: `name:320`. */
  cols?: string[];
  /** The column whose values group the rows. */
  group?: string;
  /** The rows in their hierarchy. */
  tree?: true;
  /** Only archived cards. */
  archived?: true;
  /** Only cards on which the person has a role. */
  mine?: true;
  /** The saved view from which this began. */
  view?: string;
  /** The card that the panel beside the list shows. */
  peek?: string;
  /** Whether the dialog for a new card is open. */
  create?: true;
}

const text = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;
const flag = (value: unknown): true | undefined => (value === true || value === 'true' ? true : undefined);

/** Reads the address; what is not understood is left out. */
export function readInventorySearch(search: Record<string, unknown>): InventorySearch {
  const cols = Array.isArray(search.cols) ? search.cols.filter((one) => typeof one === 'string') : undefined;
  return {
    type: text(search.type),
    search: text(search.search),
    filter: filterWith(search.where, text(search.filter)),
    sort: text(search.sort),
    cols: cols?.length ? cols : undefined,
    group: text(search.group),
    tree: flag(search.tree),
    archived: flag(search.archived),
    mine: flag(search.mine),
    view: text(search.view),
    peek: text(search.peek),
    create: flag(search.create),
  };
}

/** A filter with the values of links as conditions before it. */
function filterWith(where: unknown, filter: string | undefined): string | undefined {
  if (typeof where !== 'object' || where === null || Array.isArray(where)) return filter;
  const conditions = Object.entries(where).flatMap(([field, values]) => {
    const known = Array.isArray(values)
      ? values.filter((one): one is string | null => one === null || typeof one === 'string')
      : [];
    return /^[\w.-]+$/.test(field) && known.length > 0
      ? [{ field, operator: 'in' as const, values: known }]
      : [];
  });
  return filterText([...conditions, ...(filter ? [filter] : [])]);
}
