/** Values of a field that a filter selects; `null` is the lack of a value. */
type Chosen = Record<string, (string | null)[]>;

/** What the address of the inventory says; defaults are left out. */
export interface InventorySearch {
  type?: string;
  search?: string;
  /** Conditions by field, as the facets set them. */
  where?: Chosen;
  /** A condition in the filter language, in addition. */
  filter?: string;
  /** A field, with `-` before it for descending. */
  sort?: string;
  cols?: string[];
  /** The card that the panel shows. */
  peek?: string;
}

const text = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;

function chosenOf(value: unknown): Chosen | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = Object.entries(value).flatMap(([field, values]) => {
    const known = Array.isArray(values)
      ? values.filter((one) => one === null || typeof one === 'string')
      : [];
    return /^[\w.-]+$/.test(field) && known.length > 0 ? [[field, known] as const] : [];
  });
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

/** Reads the address; what is not understood is left out. */
export function readInventorySearch(search: Record<string, unknown>): InventorySearch {
  const cols = Array.isArray(search.cols) ? search.cols.filter((one) => typeof one === 'string') : undefined;
  return {
    type: text(search.type),
    search: text(search.search),
    where: chosenOf(search.where),
    filter: text(search.filter),
    sort: text(search.sort),
    cols: cols?.length ? cols : undefined,
    peek: text(search.peek),
  };
}

const quoted = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`;

/** The condition of one field in the filter language. */
function conditionOf(field: string, values: readonly (string | null)[]): string {
  const named = values.filter((value) => value !== null);
  const parts = [
    ...(named.length > 0 ? [`${field} in (${named.map(quoted).join(', ')})`] : []),
    ...(values.includes(null) ? [`${field} is empty`] : []),
  ];
  return parts.length > 1 ? `(${parts.join(' or ')})` : parts[0]!;
}

/**
 * The filter of an address in the filter language; undefined without conditions.
 * @param except a field whose own conditions are left out, for the counts of its values.
 */
export function filterOf({ where = {}, filter }: InventorySearch, except?: string): string | undefined {
  const parts = Object.entries(where)
    .filter(([field]) => field !== except)
    .map(([field, values]) => conditionOf(field, values));
  if (filter) parts.push(parts.length > 0 ? `(${filter})` : filter);
  return parts.length > 0 ? parts.join(' and ') : undefined;
}

/** The address after a value of a field was chosen or no longer is. */
export function toggled(search: InventorySearch, field: string, value: string | null): InventorySearch {
  const before = search.where?.[field] ?? [];
  const after = before.includes(value) ? before.filter((one) => one !== value) : [...before, value];
  const { [field]: _, ...others } = search.where ?? {};
  const where = after.length > 0 ? { ...others, [field]: after } : others;
  return { ...search, where: Object.keys(where).length > 0 ? where : undefined };
}
