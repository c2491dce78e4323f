import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { CompiledField } from '../../kernel/metamodel/metamodel.compile.ts';
import { configOf, relationsFor, type Shown, sortsOf } from './portals.commands.ts';
import type { PortalConfig } from './portals.model.ts';

/** Maximum number of cards that can be paged through; others are found by search and filters. */
export const MAX_PAGED = 10_000;
const MAX_KEYS = 20;
const MAX_VALUES = 100;

/** The query parameters of a portal's cards. */
export interface PortalQuery {
  search?: string;
  subtype?: string;
  /** Ids, separated by commas: cards need one of each group. */
  tag_ids?: string;
  /** The key of a shown relation type, or of the card type at its other end. */
  related_type?: string;
  related_id?: string;
  /** JSON: ids of related cards, of which one must match, by keys as in `related_type`. */
  relation_filters?: string;
  /** JSON: values, of which one must match, by the key of a shown attribute. */
  attr_filters?: string;
  page: number;
  page_size: number;
  sort_by?: string;
  sort_dir?: 'asc' | 'desc';
}

/** A query checked against what the portal shows; equal queries are equal as JSON. */
export interface CheckedQuery {
  search: string;
  subtype: string | null;
  tagIds: string[];
  /** Keys of relation types of which the card must have one, to one of the cards if ids are given. */
  related: { keys: string[]; ids: string[] | null }[];
  /** Values in their stored form, by the key of the attribute. */
  attributes: [string, unknown[]][];
  sort: string;
  dir: 'asc' | 'desc';
  page: number;
  size: number;
}

const sorted = <T>(values: Iterable<T>): T[] => [...new Set(values)].sort();

/**
 * Checks a query. Names that a portal does not show are refused in the same way whether or not they exist.
 * @throws EstateError 422 naming each parameter that is not valid or not offered.
 */
export function readQuery(shown: Shown, config: PortalConfig, query: PortalQuery): CheckedQuery {
  const errors: FieldError[] = [];
  const refuse = (field: string, code: string, message: string) => void errors.push({ field, code, message });
  const offered = (field: string, member: 'subtype' | 'tags') => {
    if (!shown.core.has(member)) refuse(field, 'not_offered', `this portal does not show ${member}`);
    return shown.core.has(member);
  };

  const { subtype } = query;
  if (subtype !== undefined && offered('subtype', 'subtype') && !shown.type.subtypeKeys.has(subtype)) {
    refuse('subtype', 'unknown_value', `is no subtype of ${shown.type.key}`);
  }
  let tagIds: string[] = [];
  if (query.tag_ids !== undefined && offered('tag_ids', 'tags')) {
    tagIds = sorted(query.tag_ids.split(',').map((id) => id.trim().toLowerCase()));
    const bad = tagIds.find((id) => !isUuid(id));
    if (bad !== undefined) refuse('tag_ids', 'format', `"${bad}" is no id`);
    if (tagIds.length > MAX_VALUES) refuse('tag_ids', 'too_many', `takes at most ${MAX_VALUES} ids`);
  }

  const related = readRelated(shown, query, errors);
  const attributes = readAttributes(shown, query, errors);
  const defaults = configOf(shown, config);
  const sorts = sortsOf(shown);
  const sort = query.sort_by ?? defaults.sort_by;
  if (!sorts.includes(sort)) refuse('sort_by', 'unknown_sort', `is none of ${sorts.join(', ')}`);
  const dir = query.sort_dir ?? (sort === defaults.sort_by ? defaults.sort_dir : 'asc');
  if (query.page * query.page_size > MAX_PAGED) {
    refuse('page', 'too_deep', `only the first ${MAX_PAGED} cards can be paged through: search or filter`);
  }
  if (errors.length > 0) throw invalidFields(errors);
  const search = query.search?.trim() ?? '';
  const { page, page_size: size } = query;
  return { search, subtype: subtype ?? null, tagIds, related, attributes, sort, dir, page, size };
}

/** The relations that the cards must have. */
function readRelated(shown: Shown, query: PortalQuery, errors: FieldError[]): CheckedQuery['related'] {
  const { related_type, related_id, relation_filters } = query;
  const related: CheckedQuery['related'] = [];
  const refuse = (field: string, code: string, message: string) => errors.push({ field, code, message });
  const keysOf = (field: string, key: string): string[] => {
    const keys = relationsFor(shown, key).map(({ type }) => type.key);
    if (keys.length === 0) refuse(field, 'not_offered', 'is no relation that this portal shows');
    return keys.sort();
  };
  if (related_type !== undefined || related_id !== undefined) {
    const all = [...shown.relations.keys()].sort();
    if (all.length === 0) {
      const field = related_type === undefined ? 'related_id' : 'related_type';
      refuse(field, 'not_offered', 'this portal shows no relations');
    } else {
      const keys = related_type === undefined ? all : keysOf('related_type', related_type);
      related.push({ keys, ids: related_id === undefined ? null : [related_id.toLowerCase()] });
    }
  }
  for (const [key, values] of lists('relation_filters', relation_filters, errors)) {
    const field = `relation_filters.${key}`;
    const keys = keysOf(field, key);
    const at = values.findIndex((id) => typeof id !== 'string' || !isUuid(id));
    if (at >= 0) refuse(`${field}.${at}`, 'format', 'is no id');
    else related.push({ keys, ids: sorted((values as string[]).map((id) => id.toLowerCase())) });
  }
  return related;
}

/** The attribute values that the cards must have. */
function readAttributes(shown: Shown, query: PortalQuery, errors: FieldError[]): CheckedQuery['attributes'] {
  return lists('attr_filters', query.attr_filters, errors).flatMap(
    ([name, values]): CheckedQuery['attributes'] => {
      const field = `attr_filters.${name}`;
      const attribute = shown.attributes.get(name.replace(/^attributes\./, ''));
      if (!attribute) {
        errors.push({ field, code: 'not_offered', message: 'is no attribute that this portal shows' });
        return [];
      }
      const stored = values.map((value) => storedValue(attribute, value));
      const at = stored.indexOf(undefined);
      if (at < 0) return [[attribute.key, stored]];
      const message = `is no value of ${attribute.key}`;
      errors.push({ field: `${field}.${at}`, code: 'unknown_value', message });
      return [];
    },
  );
}

/** The entries of a parameter that is JSON: keys with lists of values. */
function lists(field: string, text: string | undefined, errors: FieldError[]): [string, unknown[]][] {
  if (text === undefined) return [];
  const fail = (name: string, code: string, message: string): [] => {
    errors.push({ field: name, code, message });
    return [];
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fail(field, 'format', 'is no JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fail(field, 'format', 'is no JSON object of lists');
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_KEYS) return fail(field, 'too_many', `takes at most ${MAX_KEYS} keys`);
  return entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, values]): [string, unknown[]][] => {
      const name = `${field}.${key}`;
      if (!Array.isArray(values) || values.length === 0) return fail(name, 'format', 'is no list of values');
      if (values.length > MAX_VALUES) return fail(name, 'too_many', `takes at most ${MAX_VALUES} values`);
      return [[key, values]];
    });
}

/** A value in its stored form; undefined if it is not valid for the field. */
function storedValue({ type, options }: CompiledField, value: unknown): unknown {
  switch (type) {
    case 'number':
      return typeof value === 'number' ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'single_select':
      return typeof value === 'string' && options.has(value) ? value : undefined;
    case 'multiple_select':
      return typeof value === 'string' && options.has(value) ? [value] : undefined;
    case 'cost':
      return undefined;
    default:
      // PostgreSQL cannot store others.
      return typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value : undefined;
  }
}
