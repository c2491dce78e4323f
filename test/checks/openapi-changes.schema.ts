/** A JSON schema of the description; the members that tell whether a change breaks clients. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  [member: string]: unknown;
}

/** `request`: what clients send must still be taken. `answer`: what clients read must still be there. */
export type Direction = 'request' | 'answer';
export type Report = (at: string, what: string) => void;
type Find = (ref: string) => Schema;

/** Limits that a request may break when they are new, lower or higher. */
const upper = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'] as const;
const lower = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'] as const;

/** Compares schemas of two descriptions; each pair of components once in each direction. */
export function schemaComparison(findOld: Find, findNew: Find) {
  const compared = new Set<string>();

  function compare(was: Schema, is: Schema, direction: Direction, at: string, report: Report): void {
    if (was.$ref !== undefined && is.$ref !== undefined) {
      const pair = `${direction} ${was.$ref} ${is.$ref}`;
      if (compared.has(pair)) return;
      compared.add(pair);
    }
    const place = is.$ref === undefined ? at : `${direction} ${is.$ref.split('/').at(-1)}`;
    compareInFull(inFull(was, findOld), inFull(is, findNew), direction, place, report);
  }

  function compareInFull(was: Schema, is: Schema, direction: Direction, at: string, report: Report): void {
    const [before, after] = [alternativesOf(was, findOld), alternativesOf(is, findNew)];
    const [needed, offered] = direction === 'request' ? [before, after] : [after, before];
    if (before.length !== 1 || after.length !== 1) {
      // null among the alternatives counts as one of them
      for (const one of needed) {
        if (offered.some((other) => fits(one, other, direction))) continue;
        report(at, `${direction === 'request' ? 'no longer takes' : 'may now be'} ${nameOf(one)}`);
      }
      return;
    }
    const [old] = before;
    const [now] = after;
    compareOne(old!, now!, direction, at, report);
  }

  /** Whether an alternative of one description is taken, or known, by an alternative of the other. */
  function fits(one: Schema, other: Schema, direction: Direction): boolean {
    const found: string[] = [];
    const [was, is] = direction === 'request' ? [one, other] : [other, one];
    compareOne(was, is, direction, '', (at, what) => found.push(`${at} ${what}`));
    return found.length === 0;
  }

  function compareOne(was: Schema, is: Schema, direction: Direction, at: string, report: Report): void {
    compareTypes(was, is, direction, at, report);
    if (direction === 'request') compareLimits(was, is, at, report);
    compareMembers(was, is, direction, at, report);
    if (was.items && is.items) compare(was.items, is.items, direction, `${at}[]`, report);
    if (typeof was.additionalProperties === 'object' && typeof is.additionalProperties === 'object')
      compare(was.additionalProperties, is.additionalProperties, direction, `${at}{}`, report);
  }

  function compareMembers(was: Schema, is: Schema, direction: Direction, at: string, report: Report): void {
    const before = was.properties ?? {};
    const after = is.properties ?? {};
    for (const [name, part] of Object.entries(before)) {
      const place = `${at}.${name}`;
      if (after[name]) {
        compare(part, after[name], direction, place, report);
        const mayMiss = was.required?.includes(name) && !is.required?.includes(name);
        if (direction === 'answer' && mayMiss) report(place, 'may now be missing');
      } else if (direction === 'answer') report(place, 'is removed');
      else if (is.additionalProperties === false) report(place, 'is no longer taken');
    }
    if (direction === 'answer') return;
    for (const name of is.required ?? []) {
      if (!was.required?.includes(name)) report(`${at}.${name}`, 'is required now');
    }
  }

  return compare;
}

/** The schema that a reference leads to, with what stands beside the reference. */
function inFull(schema: Schema, find: Find): Schema {
  const { $ref, ...own } = schema;
  return $ref === undefined ? schema : { ...inFull(find($ref), find), ...own };
}

/** The alternatives of a schema, each with one type; choices among values stay together. */
function alternativesOf(schema: Schema, find: Find): Schema[] {
  const { anyOf, oneOf, allOf, ...own } = inFull(schema, find);
  const parts = anyOf ?? oneOf;
  if (parts) return mergeValues(parts.flatMap((part) => alternativesOf(part, find)));
  if (allOf) {
    const all = allOf.map((part) => inFull(part, find));
    const merged: Schema = Object.assign({}, ...all, own);
    merged.properties = Object.assign({}, ...all.map((part) => part.properties), own.properties);
    merged.required = [...all, own as Schema].flatMap((part) => part.required ?? []);
    return alternativesOf(merged, find);
  }
  if (!Array.isArray(own.type)) return [own];
  return own.type.map((type) => (type === 'null' ? { type } : { ...own, type }));
}

/** Alternatives that are single values become one with all values. */
function mergeValues(parts: Schema[]): Schema[] {
  const values = parts.filter((part) => part.type === 'string' && part.enum);
  if (values.length < 2) return parts;
  const merged = { ...values[0], enum: values.flatMap((part) => part.enum!) };
  return [merged, ...parts.filter((part) => !values.includes(part))];
}

function compareTypes(was: Schema, is: Schema, direction: Direction, at: string, report: Report): void {
  const [needed, offered] = direction === 'request' ? [was, is] : [is, was];
  const fitting =
    offered.type === undefined ||
    offered.type === needed.type ||
    (needed.type === 'integer' && offered.type === 'number');
  if (!fitting) report(at, `was ${nameOf(was)}, is ${nameOf(is)}`);
  if (direction === 'answer') return;
  const before = valuesOf(was);
  const after = valuesOf(is);
  if (!after) return;
  const gone = before?.filter((value) => !after.includes(value)) ?? [];
  if (!before) report(at, `takes only ${after.join(', ')} now`);
  else if (gone.length > 0) report(at, `no longer takes ${gone.join(', ')}`);
}

const valuesOf = (schema: Schema): unknown[] | undefined =>
  schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);

function compareLimits(was: Schema, is: Schema, at: string, report: Report): void {
  const narrowed = [
    ...upper.filter((name) => is[name] !== undefined && !(Number(was[name]) <= Number(is[name]))),
    ...lower.filter(
      (name) => is[name] !== undefined && !(Number(was[name] ?? start[name]) >= Number(is[name])),
    ),
    ...(['pattern', 'format'] as const).filter((name) => is[name] !== undefined && was[name] !== is[name]),
  ];
  for (const name of narrowed) report(at, `${name} was ${was[name] ?? 'not limited'}, is ${is[name]}`);
}

/** What a missing lower limit stands for. */
const start: Record<string, number> = { minLength: 0, minItems: 0 };

const nameOf = (schema: Schema): string => valuesOf(schema)?.join(' | ') ?? String(schema.type ?? 'anything');
