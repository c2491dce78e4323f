import type { OpenPortal } from '../../../../domain/exchange/portals/portals.cards.ts';
import type { PortalQuery } from '../../../../domain/exchange/portals/portals.query.ts';
import type {
  PublicCard,
  PublicPortal,
  ShownField,
} from '../../../../domain/exchange/portals/portals.types.ts';
import { invalidField } from '../../../../platform/errors.ts';

/** Cards per page. */
export const PAGE_SIZE = 24;
/** Maximum number of related cards in a select list; others can be reached by the links of a card. */
const MOST_OPTIONS = 100;

/** The query parameters of the page. */
export interface PageQuery {
  search?: string;
  filter?: string[];
  sort?: string;
  page: number;
}

/** A page of cards with the current filter, rendered from public data only. */
export interface PortalForm {
  portal: PublicPortal;
  query: PageQuery;
  /** The selected values by name. */
  chosen: ReadonlyMap<string, string[]>;
  cards: { items: PublicCard[]; total: number };
  /** Selectable related cards by relation type key. */
  options: ReadonlyMap<string, { id: string; name: string }[]>;
}

/** Reads the data of the page. @throws EstateError 422 for filters and sort fields that the portal does not support. */
export async function readForm(open: OpenPortal, query: PageQuery): Promise<PortalForm> {
  const portal = JSON.parse(await open.definition()) as PublicPortal;
  const chosen = choices(query.filter ?? []);
  const cards = JSON.parse(await open.cards(cardsQuery(portal, query, chosen)));
  const options = new Map<string, { id: string; name: string }[]>();
  for (const { key } of portal.relation_types) {
    options.set(key, JSON.parse(await open.choices(key, MOST_OPTIONS)));
  }
  return { portal, query, chosen, cards, options };
}

/** Parses `name:value` filters by name; an unselected list sends no value. */
function choices(filters: string[]): Map<string, string[]> {
  const chosen = new Map<string, string[]>();
  for (const [n, filter] of filters.entries()) {
    const colon = filter.indexOf(':');
    if (filter === '' || colon === filter.length - 1) continue;
    if (colon < 1) throw invalidField(`filter.${n}`, 'format', 'must have the form name:value');
    const name = filter.slice(0, colon);
    chosen.set(name, [...(chosen.get(name) ?? []), filter.slice(colon + 1)]);
  }
  return chosen;
}

/** The shown attributes by key. */
export const fieldsOf = ({ type_info }: PublicPortal): Map<string, ShownField> =>
  new Map(type_info.fields_schema.flatMap(({ fields }) => fields.map((field) => [field.key, field])));

function cardsQuery(
  portal: PublicPortal,
  { search, sort, page }: PageQuery,
  chosen: ReadonlyMap<string, string[]>,
): PortalQuery {
  const query: PortalQuery = { page, page_size: PAGE_SIZE };
  if (search) query.search = search;
  if (sort) {
    query.sort_by = sort.replace(/^-/, '');
    query.sort_dir = sort.startsWith('-') ? 'desc' : 'asc';
  }
  const fields = fieldsOf(portal);
  const attributes: Record<string, unknown[]> = Object.create(null);
  const relations: Record<string, string[]> = Object.create(null);
  for (const [name, values] of chosen) {
    const [kind, key] = name.split(/\.(.*)/s) as [string, string | undefined];
    if (name === 'subtype') {
      if (values.length > 1) throw invalidField('filter', 'several', 'subtype can only have one value');
      query.subtype = values[0]!;
    } else if (name === 'tag') query.tag_ids = values.join(',');
    else if (kind === 'attributes' && key) {
      attributes[key] = values.map((value) => typed(fields.get(key), value));
    } else if (kind === 'relations' && key) relations[key] = values;
    else throw invalidField('filter', 'not_offered', `this portal has no filter "${name}"`);
  }
  if (Object.keys(attributes).length > 0) query.attr_filters = JSON.stringify(attributes);
  if (Object.keys(relations).length > 0) query.relation_filters = JSON.stringify(relations);
  return query;
}

/** Converts a value from the query string to the attribute's type. */
function typed(field: ShownField | undefined, value: string): unknown {
  if (field?.type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  if (field?.type === 'number') return value.trim() === '' ? value : Number(value);
  return value;
}

/** The page's URL with changed parameters. */
export function addressOf({ portal, query }: PortalForm, changes: Partial<PageQuery> = {}): string {
  const { search, filter = [], sort, page } = { ...query, ...changes };
  const said = new URLSearchParams();
  if (search) said.set('search', search);
  for (const choice of filter) if (choice !== '' && !choice.endsWith(':')) said.append('filter', choice);
  if (sort) said.set('sort', sort);
  if (page > 1) said.set('page', String(page));
  const text = said.toString();
  return `/portal/${portal.slug}${text === '' ? '' : `?${text}`}`;
}
