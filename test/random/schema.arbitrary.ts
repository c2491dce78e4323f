import fc from 'fast-check';

/** As much of a JSON schema as the document uses for what it takes. */
export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  example?: unknown;
  examples?: unknown[];
}

/** Values of a live service that fit a place, such as ids of cards. */
export type Known = (name: string) => string[];

const day = fc
  .integer({ min: 0, max: 30_000 })
  .map((days) => new Date(days * 86_400_000).toISOString().slice(0, 10));

function text(schema: Schema, name: string, known: Known): fc.Arbitrary<unknown> {
  const examples = schema.examples ?? (schema.example === undefined ? [] : [schema.example]);
  if (schema.format === 'uuid') {
    const ids = known(name);
    return ids.length > 0
      ? fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...ids) }, fc.uuid())
      : fc.uuid();
  }
  if (schema.format === 'date') return day;
  if (schema.format === 'date-time') return day.map((date) => `${date}T10:20:30.000Z`);
  if (schema.format === 'email') return fc.uuid().map((id) => `${id}@estate.example`);
  if (schema.format === 'uri') return fc.webUrl();
  const range = { minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 30, 30) };
  const plain = schema.pattern
    ? fc.stringMatching(new RegExp(schema.pattern))
    : fc.string({ ...range, minLength: Math.min(range.minLength, range.maxLength), unit: 'grapheme' });
  const given = [...examples, ...known(name)];
  return given.length > 0 ? fc.oneof(fc.constantFrom(...given), plain) : plain;
}

/** What fits the schema, for the most part: rules beyond it are the service's to refuse. */
export function fitting(schema: Schema, known: Known, name = '', depth = 0): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  const branches = schema.anyOf ?? schema.allOf;
  if (branches) return fc.oneof(...branches.map((branch) => fitting(branch, known, name, depth + 1)));
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => fitting({ ...schema, type }, known, name, depth)));
  switch (schema.type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number': {
      const min = Math.max(schema.minimum ?? -1000, -(2 ** 31));
      const max = Math.max(min, Math.min(schema.maximum ?? 1000, 2 ** 31));
      return fc.integer({ min: Math.ceil(min), max: Math.floor(max) });
    }
    case 'array':
      return depth > 6
        ? fc.constant([])
        : fc.array(fitting(schema.items ?? {}, known, name, depth + 1), {
            minLength: Math.min(schema.minItems ?? 0, 3),
            maxLength: Math.max(Math.min(schema.minItems ?? 0, 3), Math.min(schema.maxItems ?? 3, 3)),
          });
    case 'object': {
      const members = Object.entries(schema.properties ?? {});
      return fc.record(
        Object.fromEntries(members.map(([key, value]) => [key, fitting(value, known, key, depth + 1)])),
        { requiredKeys: (schema.required ?? []).filter((key) => schema.properties?.[key]) },
      );
    }
    case 'string':
      return text(schema, name, known);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}
