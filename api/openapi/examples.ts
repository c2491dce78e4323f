import type { Schema } from './document.ts';

/** What members of these names hold in examples, where their schema allows it. */
const byName: Record<string, unknown> = {
  alias: 'CD',
  code: 'not_found',
  color: '#1976d2',
  description: 'Registers and settles claims.',
  display_name: 'Ada Lovelace',
  email: 'ada@example.org',
  external_id: 'APP-0042',
  icon: 'apps',
  key: 'responsible',
  label: 'Responsible',
  locale: 'en',
  message: 'Two of three batches are done.',
  name: 'Claims Desk',
  origin: 'api',
  page_size: 50,
  request_id: 'nightly-sync-0042',
  role: 'member',
  source_type_key: 'Application',
  target_type_key: 'ITComponent',
  title: 'Not found',
  type: 'Application',
  user_display_name: 'Ada Lovelace',
  version: '1.0.0',
};

const byFormat: Record<string, string> = {
  uuid: '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11',
  'date-time': '2026-02-03T09:15:00.000Z',
  date: '2026-02-03',
  email: 'ada@example.org',
  uri: 'https://example.org/claims',
};

/** Beyond this depth a schema that contains itself is left empty. */
const MAX_DEPTH = 12;

/**
 * An example of a schema: its own where it has one, else made of its parts; the same for the same schema always.
 * @param schemas the named schemas of the document, which `$ref`s point to.
 */
export function exampleOf(schema: Schema, schemas: Record<string, Schema>, name = '', depth = 0): unknown {
  if (depth > MAX_DEPTH) return null;
  if (schema.$ref) return exampleOf(schemas[schema.$ref.split('/').at(-1)!] ?? {}, schemas, name, depth + 1);
  if (schema.example !== undefined) return schema.example;
  if (schema.examples?.length) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.length) return schema.enum[0];
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (choice) return exampleOf(choice, schemas, name, depth + 1);
  if (schema.allOf) {
    return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, schemas, name, depth + 1)));
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object':
      return objectExample(schema, schemas, depth);
    case 'array':
      return schema.items ? [exampleOf(schema.items, schemas, name.replace(/s$/, ''), depth + 1)] : [];
    case 'string':
      return stringExample(schema, name);
    case 'integer':
    case 'number':
      return typeof byName[name] === 'number'
        ? byName[name]
        : (schema.default ?? Math.max(schema.minimum ?? 1, 1));
    case 'boolean':
      return schema.default ?? true;
    default:
      return null;
  }
}

function objectExample(schema: Schema, schemas: Record<string, Schema>, depth: number): unknown {
  const properties = Object.entries(schema.properties ?? {});
  const isList = schema.properties?.page !== undefined;
  const example = Object.fromEntries(
    properties
      // a list's answer has either a page or a cursor
      .filter(([name]) => !(isList && name === 'next_cursor'))
      .map(([name, part]) => [name, exampleOf(part, schemas, name, depth + 1)]),
  );
  const rest = schema.additionalProperties;
  const named = typeof rest === 'object' && Object.keys(rest).length > 0;
  return properties.length === 0 && named ? { key: exampleOf(rest, schemas, '', depth + 1) } : example;
}

function stringExample(schema: Schema, name: string): unknown {
  if (schema.format && byFormat[schema.format]) return byFormat[schema.format];
  if (schema.default !== undefined) return schema.default;
  const named = byName[name];
  if (typeof named === 'string') return named;
  return name.replaceAll('_', ' ') || 'text';
}
