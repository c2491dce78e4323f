import type { OpenApiDocument, Schema } from './document.ts';
import { type MapSchema, mapParts, replaceInComponents, replaceInOperations } from './walk.ts';

/** Rewrites `anyOf` of constants as `enum` and of types as type lists, for which code generators create simple types. */
export function plainSchemas(document: OpenApiDocument): void {
  const visit: MapSchema = (schema, place) => nullable(enumeration(mapParts(schema, place, visit)));
  replaceInOperations(document, visit);
  replaceInComponents(document, visit);
}

const isValue = (part: Schema): boolean =>
  part.type === 'string' && part.enum !== undefined && Object.keys(part).length === 2;

/** Combines constants of an `anyOf` into one `enum`; other alternatives remain. */
function enumeration(schema: Schema): Schema {
  const values = (schema.anyOf ?? []).filter(isValue);
  if (values.length < 2) return schema;
  const { anyOf, ...rest } = schema;
  const one: Schema = { type: 'string', enum: [...new Set(values.flatMap((part) => part.enum!))] };
  const others = anyOf!.filter((part) => !isValue(part));
  return others.length === 0 ? { ...one, ...rest } : { anyOf: [one, ...others], ...rest };
}

const scalars = ['string', 'number', 'integer', 'boolean'];

/** Rewrites a nullable scalar as a type list. */
function nullable(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  const [part, empty] = anyOf ?? [];
  const isPair = anyOf?.length === 2 && empty!.type === 'null' && Object.keys(empty!).length === 1;
  if (!isPair || !scalars.includes(part!.type as string) || part!.enum || 'const' in part!) return schema;
  const twice = Object.keys(part!).some((name) => name in rest);
  return twice ? schema : { ...part, type: [part!.type as string, 'null'], ...rest };
}
