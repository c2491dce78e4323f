import { type OpenApiDocument, operationsOf, type Schema } from './document.ts';
import { capital, type Place } from './schema-names.ts';

export type Schemas = Record<string, Schema>;
/** Returns the replacement of a schema at a location. */
export type MapSchema = (schema: Schema, place: Place) => Schema;

/** Maps every subschema of a schema; values that are not objects, such as `false`, do not change. */
export function mapParts(schema: Schema, place: Place, visit: MapSchema): Schema {
  const result: Schema = { ...schema };
  const at = (step: string): Place => ({ ...place, path: [...place.path, step] });
  for (const list of ['anyOf', 'oneOf', 'allOf'] as const) {
    // an alternative has the location of the schema, since the other alternative is usually null
    if (schema[list])
      result[list] = schema[list].map((part, index) => visit(part, at(index > 0 ? `${index}` : '')));
  }
  if (schema.items) result.items = visit(schema.items, at('[]'));
  if (typeof schema.additionalProperties === 'object') {
    result.additionalProperties = visit(schema.additionalProperties, at('{}'));
  }
  if (schema.properties) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, part]) => [name, visit(part, at(name))]),
    );
  }
  return result;
}

/** Replaces every schema of parameters, request and response bodies. */
export function replaceInOperations(document: OpenApiDocument, visit: MapSchema): void {
  for (const { operationId, parameters = [], requestBody, responses } of operationsOf(document)) {
    for (const one of parameters) {
      if (one.schema)
        one.schema = visit(one.schema, { kind: 'parameter', root: capital(one.name), path: [] });
    }
    const root = capital(operationId);
    const bodies = Object.values(requestBody?.content ?? {});
    for (const media of bodies) media.schema = visit(media.schema, { kind: 'body', root, path: [] });
    const answers = Object.values(responses).flatMap(({ content = {} }) => Object.values(content));
    for (const media of answers) media.schema = visit(media.schema, { kind: 'answer', root, path: [] });
  }
}

/** Replaces every schema of the components. */
export function replaceInComponents({ components: { schemas } }: OpenApiDocument, visit: MapSchema): void {
  for (const [name, schema] of Object.entries(schemas)) {
    schemas[name] = visit(schema, { kind: 'component', root: name, path: [] });
  }
}
