import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { CompiledField } from '../../kernel/metamodel/metamodel.compile.ts';
import { configOf, relationsFor, type Shown, sortsOf } from './portals.rules.ts';
import type { PortalConfig } from './portals.types.ts';

/** How deep one may page: what lies beyond is found by search and filters. */
export const MOST_PAGED = 10_000;
const MOST_KEYS = 20;
const MOST_VALUES = 100;

/** What is asked of a portal's cards, as it is sent. */
export interface PortalQuery {
  search?: string;
  subtype?: string;
  /** Ids, separated by commas: of one group one must fit, of several groups all. */
  tag_ids?: string;
  /** The key of a shown relation type, or of the card type at its other end. */
  related_type?: string;
  related_id?: string;
  /** JSON: ids of related cards, of which one must fit, by keys as in `related_type`. */
  relation_filters?: string;
  /** JSON: values, of which one must fit, by the key of a shown attribute. */
  attr_filters?: string;
  page: number;
  page_size: number;
  sort_by?: string;
  sort_dir?: 'asc' | 'desc';
}

/** What is asked, checked against what the portal shows; equal questions are equal as JSON. */
export interface Asked {
  search: string;
  subtype: string | null;
  tagIds: string[];
  /** Keys of relation types of which the card must have one, to one of the cards where ids are given. */
  related: { keys: string[]; ids: string[] | null }[];
  /** Values as cards hold them, by the key of the attribute. */
  attributes: [string, unknown[]][];
  sort: string;
  dir: 'asc' | 'desc';
  page: number;
  size: number;
}

const sorted = <T>(values: Iterable<T>): T[] => [...new Set(values)].sort();

/**
 * Reads a question. What a portal does not show cannot be asked about, whether it is there or not: both are refused alike.
 * @throws EstateError 422 naming each parameter that is not valid or not offered.
 */
export function readQuery(shown: Shown, config: PortalConfig, query: PortalQuery): Asked {
  const faults: FieldError[] = [];
  const refuse = (field: string, code: string, message: string) => void faults.push({ field, code, message });
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
    if (tagIds.length > MOST_VALUES) refuse('tag_ids', 'too_many', `takes at most ${MOST_VALUES} ids`);
  }

  const related: Asked['related'] = [];
  const keysOf = (field: string, key: string): string[] => {
    const keys = relationsFor(shown, key).map(({ type }) => type.key);
    if (keys.length === 0) refuse(field, 'not_offered', 'is no relation that this portal shows');
    return keys.sort();
  };
  if (query.related_type !== undefined || query.related_id !== undefined) {
    const all = [...shown.relations.keys()].sort();
    if (all.length === 0) {
      const field = query.related_type === undefined ? 'related_id' : 'related_type';
      refuse(field, 'not_offered', 'this portal shows no relations');
    } else {
      const keys = query.related_type === undefined ? all : keysOf('related_type', query.related_type);
      related.push({ keys, ids: query.related_id === undefined ? null : [query.related_id.toLowerCase()] });
    }
  }
  for (const [key, values] of lists('relation_filters', query.relation_filters, faults)) {
    const field = `relation_filters.${key}`;
    const keys = keysOf(field, key);
    const at = values.findIndex((id) => typeof id !== 'string' || !isUuid(id));
    if (at >= 0) refuse(`${field}.${at}`, 'format', 'is no id');
    else related.push({ keys, ids: sorted((values as string[]).map((id) => id.toLowerCase())) });
  }

  const attributes: Asked['attributes'] = [];
  for (const [name, values] of lists('attr_filters', query.attr_filters, faults)) {
    const field = `attr_filters.${name}`;
    const attribute = shown.attributes.get(name.replace(/^attributes\./, ''));
    if (!attribute) {
      refuse(field, 'not_offered', 'is no attribute that this portal shows');
      continue;
    }
    const held = values.map((value) => heldValue(attribute, value));
    const at = held.indexOf(undefined);
    if (at >= 0) refuse(`${field}.${at}`, 'unknown_value', `is no value of ${attribute.key}`);
    else attributes.push([attribute.key, held]);
  }

  const defaults = configOf(shown, config);
  const sorts = sortsOf(shown);
  const sort = query.sort_by ?? defaults.sort_by;
  if (!sorts.includes(sort)) refuse('sort_by', 'unknown_sort', `is none of ${sorts.join(', ')}`);
  const dir = query.sort_dir ?? (sort === defaults.sort_by ? defaults.sort_dir : 'asc');
  if (query.page * query.page_size > MOST_PAGED) {
    refuse('page', 'too_deep', `only the first ${MOST_PAGED} cards can be paged through: search or filter`);
  }
  if (faults.length > 0) throw invalidFields(faults);
  const search = query.search?.trim() ?? '';
  const { page, page_size: size } = query;
  return { search, subtype: subtype ?? null, tagIds, related, attributes, sort, dir, page, size };
}

/** The entries of a parameter that is JSON: keys with lists of values. */
function lists(field: string, text: string | undefined, faults: FieldError[]): [string, unknown[]][] {
  if (text === undefined) return [];
  const fault = (name: string, code: string, message: string): [] => {
    faults.push({ field: name, code, message });
    return [];
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fault(field, 'format', 'is no JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fault(field, 'format', 'is no JSON object of lists');
  }
  const entries = Object.entries(value);
  if (entries.length > MOST_KEYS) return fault(field, 'too_many', `takes at most ${MOST_KEYS} keys`);
  return entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, values]): [string, unknown[]][] => {
      const name = `${field}.${key}`;
      if (!Array.isArray(values) || values.length === 0) return fault(name, 'format', 'is no list of values');
      if (values.length > MOST_VALUES) return fault(name, 'too_many', `takes at most ${MOST_VALUES} values`);
      return [[key, values]];
    });
}

/** How a card holds a value that is asked for, within its attributes; undefined for what it cannot hold. */
function heldValue({ type, options }: CompiledField, value: unknown): unknown {
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
      // what PostgreSQL cannot hold, no card holds
      return typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value : undefined;
  }
}
