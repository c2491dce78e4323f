import { table } from '../access/matrix.data.ts';
import type { Row } from '../access/matrix.row.ts';
import { type Role, roles } from '../access/world.ts';
import type { Schema } from './schema.arbitrary.ts';

type Parameter = { $ref?: string; name: string; in: 'path' | 'query' | 'header'; schema: Schema };

type Described = { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: Schema }> } };

/** An operation of the document with the rows of the access table that show how it is used. */
export interface Operation {
  /** As `GET /api/v1/cards`. */
  name: string;
  method: string;
  path: string;
  parameters: Parameter[];
  /** What its JSON body must be like. */
  body: Schema | undefined;
  rows: Row[];
}

/** Every operation of the document. @throws Error when one has no row in the access table. */
export function readOperations(document: unknown): Operation[] {
  const { paths, components } = document as {
    paths: Record<string, Record<string, Described>>;
    components: { parameters: Record<string, Parameter>; schemas: Record<string, Schema> };
  };
  const nameOf = (ref: string) => ref.split('/').at(-1)!;
  const inFull = (schema: Schema): Schema => expand(schema, (ref) => components.schemas[nameOf(ref)]!);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const rows = table.filter(({ operation }) => operation.replace(/ \(.*\)$/, '') === name);
      const body = described.requestBody?.content['application/json']?.schema;
      if (rows.length === 0) throw new Error(`${name} has no row in the access table`);
      return {
        name,
        method: method.toUpperCase(),
        path,
        parameters: (described.parameters ?? [])
          .map((parameter) => (parameter.$ref ? components.parameters[nameOf(parameter.$ref)]! : parameter))
          .filter((parameter) => parameter.in === 'query')
          .map((parameter) => ({ ...parameter, schema: inFull(parameter.schema) })),
        body: body && inFull(body),
        rows,
      };
    }),
  );
}

/** The schema with what its references name in their places; one that contains itself is open there. */
function expand(schema: Schema, find: (ref: string) => Schema, within: string[] = []): Schema {
  const { $ref, ...own } = schema;
  if ($ref !== undefined) {
    if (within.includes($ref)) return {};
    return { ...expand(find($ref), find, [...within, $ref]), ...own };
  }
  const inside = (part: Schema) => expand(part, find, within);
  const { anyOf, allOf, items, properties, additionalProperties } = schema;
  return {
    ...schema,
    ...(anyOf ? { anyOf: anyOf.map(inside) } : {}),
    ...(allOf ? { allOf: allOf.map(inside) } : {}),
    ...(items ? { items: inside(items) } : {}),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: inside(additionalProperties) }
      : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, part]) => [name, inside(part)]),
          ),
        }
      : {}),
  };
}

/** Whether the table says that the role may do what the row does. */
export const allows = (row: Row, role: Role): boolean => row.outcomes.split(' ')[roles.indexOf(role)] === '+';

/** Roles that administer, roles that edit, and roles that read or are not logged in. */
export const groups: Record<string, Role[]> = {
  keepers: ['admin', 'bpm_admin', 'integrator'],
  workers: ['member'],
  guests: ['viewer', 'participant', 'anonymous'],
};
