import type { Compare, Filter } from 'scim2-parse-filter';
import { scimError } from './scim.errors.ts';
import { parsedFilter, plainPath } from './scim.filter.ts';

/** One operation of a PATCH request (RFC 7644, 3.5.2). */
export interface PatchOperation {
  op: 'add' | 'replace' | 'remove';
  path: PatchPath;
  value: unknown;
}

/** The target of an operation. */
export interface PatchPath {
  /** The attribute in lower case; a path of another schema as it was sent, in lower case. */
  attribute: string;
  /** Selects values of a multi-valued attribute; undefined: all. */
  filter: Filter | undefined;
  /** The sub-attribute in lower case. */
  member: string | undefined;
}

const MAX_OPERATIONS = 1_000;
const pathForm = /^([a-z$][\w$-]*)(?:\[(.*)\])?(?:\.([a-z$][\w$-]*))?$/i;

/**
 * The operations of a PATCH body, one for each attribute: a value without a path is split. Names and `op` are
 * case-insensitive, since Microsoft Entra ID capitalises them.
 * @throws EstateError `scim_invalid_syntax`, `scim_invalid_path`, `scim_no_target`.
 */
export function patchOperations(body: unknown, schema: string): PatchOperation[] {
  const list = member(body, 'operations');
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_OPERATIONS) {
    throw scimError('invalidSyntax', `Operations has to be a list of 1 to ${MAX_OPERATIONS} operations.`);
  }
  return list.flatMap((item) => {
    const given = member(item, 'op');
    const op = typeof given === 'string' ? given.toLowerCase() : '';
    if (op !== 'add' && op !== 'replace' && op !== 'remove') {
      throw scimError('invalidSyntax', 'The op of an operation is add, replace or remove.');
    }
    const path = member(item, 'path');
    const value = member(item, 'value');
    if (path !== undefined && path !== null && path !== '') {
      if (typeof path !== 'string') throw scimError('invalidPath', 'A path is a text.');
      if (op !== 'remove' && value === undefined) {
        throw scimError('invalidValue', `The operation on ${path} needs a value.`);
      }
      return [{ op, path: patchPath(path, schema), value }];
    }
    if (op === 'remove') throw scimError('noTarget', 'To remove needs a path.');
    return attributesOf(value, schema).map((attribute) => ({ op, ...attribute }));
  });
}

/** The attributes of a resource, or of a value without a path, whose names may be paths. */
export function attributesOf(value: unknown, schema: string): { path: PatchPath; value: unknown }[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw scimError('invalidSyntax', 'The value has to be an object with attributes.');
  }
  return Object.entries(value).map(([name, part]) => ({ path: patchPath(name, schema), value: part }));
}

function patchPath(text: string, schema: string): PatchPath {
  const invalid = () => scimError('invalidPath', `The path ${text.slice(0, 200)} cannot be read.`);
  if (text.length > 2_000) throw invalid();
  const own = text.toLowerCase().startsWith(`${schema.toLowerCase()}:`)
    ? text.slice(schema.length + 1)
    : text;
  // An attribute of another schema.
  if (/^urn:/i.test(own)) return { attribute: own.toLowerCase(), filter: undefined, member: undefined };
  const [, attribute, filter, sub] = pathForm.exec(own) ?? [];
  if (attribute === undefined) throw invalid();
  return {
    attribute: plainPath(attribute, { schema }),
    filter: filter === undefined ? undefined : parsedFilter(filter),
    member: sub?.toLowerCase(),
  };
}

/** A member of an object by its case-insensitive name. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).find(([key]) => key.toLowerCase() === name)?.[1];
}

/**
 * Whether a value of a multi-valued attribute matches a filter with `eq`, which is the only operator that clients send.
 * @throws EstateError `scim_invalid_filter` for other filters.
 */
export function matchesFilter(value: Record<string, string | boolean>, filter: Filter): boolean {
  if (filter.op === 'and') {
    return (filter as { filters: Filter[] }).filters.every((part) => matchesFilter(value, part));
  }
  if (filter.op === 'or')
    return (filter as { filters: Filter[] }).filters.some((part) => matchesFilter(value, part));
  const { op, attrPath, compValue } = filter as Compare;
  if (op !== 'eq') throw scimError('invalidFilter', 'A path selects values with eq, and, or.');
  const held = value[attrPath.toLowerCase()];
  return held !== undefined && String(held).toLowerCase() === String(compValue).toLowerCase();
}

/**
 * The ids that a filter such as `value eq "…" or value eq "…"` names.
 * @throws EstateError `scim_invalid_filter` for other filters.
 */
export function idsOf(filter: Filter): string[] {
  if (filter.op === 'or') return (filter as { filters: Filter[] }).filters.flatMap(idsOf);
  const { op, attrPath, compValue } = filter as Compare;
  if (op !== 'eq' || attrPath.toLowerCase() !== 'value' || typeof compValue !== 'string') {
    throw scimError('invalidFilter', 'Members are selected by value eq "…".');
  }
  return [compValue];
}
