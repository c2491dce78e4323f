import type { OpenApiDocument, Schema } from './document.ts';
import { mapParts, mapSchemas, type Visit } from './walk.ts';

/** The same document with choices written as enumerations and lists of types, for which generators make plain types. */
export function plainSchemas(document: OpenApiDocument): OpenApiDocument {
  const visit: Visit = (schema, place) => nullable(enumeration(mapParts(schema, place, visit)));
  return mapSchemas(document, visit);
}

const isValue = (part: Schema): boolean =>
  part.type === 'string' && part.enum !== undefined && Object.keys(part).length === 2;

/** A choice of single values as one enumeration, beside what else may be chosen. */
function enumeration(schema: Schema): Schema {
  const values = (schema.anyOf ?? []).filter(isValue);
  if (values.length < 2) return schema;
  const { anyOf, ...rest } = schema;
  const one: Schema = { type: 'string', enum: [...new Set(values.flatMap((part) => part.enum!))] };
  const others = anyOf!.filter((part) => !isValue(part));
  return others.length === 0 ? { ...one, ...rest } : { anyOf: [one, ...others], ...rest };
}

const scalars = ['string', 'number', 'integer', 'boolean'];

/** A scalar or null as a list of types. */
function nullable(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  const [part, empty] = anyOf ?? [];
  const isPair = anyOf?.length === 2 && empty!.type === 'null' && Object.keys(empty!).length === 1;
  if (!isPair || !scalars.includes(part!.type as string) || part!.enum || 'const' in part!) return schema;
  const twice = Object.keys(part!).some((name) => name in rest);
  return twice ? schema : { ...part, type: [part!.type as string, 'null'], ...rest };
}
