import { scimError } from './scim.errors.ts';

/** The attributes in a response, from the query parameters `attributes` and `excludedAttributes`. */
export interface Projection {
  attributes?: string | undefined;
  excludedAttributes?: string | undefined;
}

/** Always returned (RFC 7643, 2.2). */
const always = new Set(['schemas', 'id']);

const paths = (text: string, schema: string): string[] =>
  text
    .split(',')
    .map((path) => path.trim().toLowerCase())
    .map((path) => (path.startsWith(`${schema.toLowerCase()}:`) ? path.slice(schema.length + 1) : path))
    .filter((path) => path !== '');

/** A function that removes attributes from resources, and the top-level attributes that need not be read. */
export interface ResourceProjection {
  cut<T extends Record<string, unknown>>(resource: T): Record<string, unknown>;
  /** Whether an attribute is returned. */
  shows(attribute: string): boolean;
}

/** @throws EstateError `scim_invalid_value` if both parameters are given. */
export function projection(
  { attributes, excludedAttributes }: Projection,
  schema: string,
): ResourceProjection {
  if (attributes !== undefined && excludedAttributes !== undefined) {
    throw scimError('invalidValue', 'Either attributes or excludedAttributes can be given.');
  }
  if (attributes !== undefined) {
    const wanted = paths(attributes, schema);
    const top = new Set(wanted.map((path) => path.split('.')[0]!));
    const keep = (name: string) => always.has(name) || top.has(name);
    return {
      shows: (name) => keep(name.toLowerCase()),
      cut: (resource) =>
        filtered(resource, '', (path) => {
          const name = path.split('.')[0]!;
          if (!keep(name)) return false;
          if (!path.includes('.') || always.has(name) || wanted.includes(name)) return true;
          return wanted.includes(path);
        }),
    };
  }
  const unwanted = new Set(paths(excludedAttributes ?? '', schema).filter((path) => !always.has(path)));
  return {
    shows: (name) => !unwanted.has(name.toLowerCase()),
    cut: (resource) =>
      unwanted.size === 0 ? resource : filtered(resource, '', (path) => !unwanted.has(path)),
  };
}

function filtered(
  value: Record<string, unknown>,
  inside: string,
  keep: (path: string) => boolean,
): Record<string, unknown> {
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const path = `${inside}${name.toLowerCase()}`;
    if (!keep(path)) return [];
    if (inside !== '' || typeof member !== 'object' || member === null) return [[name, member]];
    const below = (part: unknown): unknown =>
      typeof part === 'object' && part !== null
        ? filtered(part as Record<string, unknown>, `${path}.`, keep)
        : part;
    return [[name, Array.isArray(member) ? member.map(below) : below(member)]];
  });
  return Object.fromEntries(kept);
}
