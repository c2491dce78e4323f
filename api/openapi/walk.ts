import type { OpenApiDocument, Schema } from './document.ts';
import { capital, type Place } from './schema-names.ts';

export type Schemas = Record<string, Schema>;
/** Returns the replacement of a schema at a location. */
export type Visit = (schema: Schema, place: Place) => Schema;

/** Maps every subschema of a schema; values that are not objects, such as `false`, do not change. */
export function mapParts(schema: Schema, place: Place, visit: Visit): Schema {
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

/** Maps every schema of components, parameters, request and response bodies. */
export function mapSchemas(document: OpenApiDocument, visit: Visit): OpenApiDocument {
  const content = (media: Record<string, { schema: Schema }> | undefined, place: Place) =>
    Object.fromEntries(
      Object.entries(media ?? {}).map(([type, one]) => [type, { ...one, schema: visit(one.schema, place) }]),
    );
  const operation = (one: OpenApiDocument['paths'][string][string]) => {
    const root = capital(one.operationId);
    const { requestBody, parameters, responses } = one;
    return {
      ...one,
      ...(parameters
        ? {
            parameters: parameters.map((parameter) =>
              parameter.schema
                ? {
                    ...parameter,
                    schema: visit(parameter.schema, {
                      kind: 'parameter',
                      root: capital(parameter.name),
                      path: [],
                    }),
                  }
                : parameter,
            ),
          }
        : {}),
      ...(requestBody
        ? {
            requestBody: {
              ...requestBody,
              content: content(requestBody.content, { kind: 'body', root, path: [] }),
            },
          }
        : {}),
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [
          status,
          response.content
            ? { ...response, content: content(response.content, { kind: 'answer', root, path: [] }) }
            : response,
        ]),
      ),
    };
  };
  return {
    ...document,
    paths: Object.fromEntries(
      Object.entries(document.paths).map(([path, methods]) => [
        path,
        Object.fromEntries(Object.entries(methods).map(([method, one]) => [method, operation(one)])),
      ]),
    ) as OpenApiDocument['paths'],
    components: {
      ...document.components,
      schemas: Object.fromEntries(
        Object.entries(document.components.schemas as Schemas).map(([name, schema]) => [
          name,
          visit(schema, { kind: 'component', root: name, path: [] }),
        ]),
      ),
    },
  };
}
