import { table } from '../access/matrix.data.ts';
import type { Row } from '../access/matrix.row.ts';
import { type Role, roles } from '../access/world.ts';
import type { Schema } from './schema.arbitrary.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
}

interface Described {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

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
  const { paths } = document as { paths: Record<string, Record<string, Described>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const rows = table.filter(({ operation }) => operation.replace(/ \(.*\)$/, '') === name);
      if (rows.length === 0) throw new Error(`${name} has no row in the access table`);
      return {
        name,
        method: method.toUpperCase(),
        path,
        parameters: (described.parameters ?? []).filter((parameter) => parameter.in === 'query'),
        body: described.requestBody?.content['application/json']?.schema,
        rows,
      };
    }),
  );
}

/** Whether the table says that the role may do what the row does. */
export const allows = (row: Row, role: Role): boolean => row.outcomes.split(' ')[roles.indexOf(role)] === '+';

/** Those who keep the house, those who work in it, and those who look on or in. */
export const groups: Record<string, Role[]> = {
  keepers: ['admin', 'bpm_admin', 'integrator'],
  workers: ['member'],
  guests: ['viewer', 'participant', 'anonymous'],
};
