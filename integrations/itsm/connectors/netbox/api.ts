import { done, failed, type Result } from '../../remote.failures.ts';
import type { Answered, Transport } from '../transport.ts';
import { isTable } from './ids.ts';
import type { Row } from './records.ts';

/** One page of a list as NetBox tells it. */
export interface Listed {
  rows: Row[];
  /** Whether NetBox says that more follow; a page may be short of what was asked for. */
  more: boolean;
}

/** The endpoints of the REST API. */
export interface Api {
  list(
    table: string,
    query: (pageSize: number) => URLSearchParams,
    limit: number,
    doing: string,
  ): Promise<Result<Listed>>;
  /** One object by its number. */
  one(table: string, key: number, fields: string[], doing: string): Promise<Result<Answered>>;
  /** What an endpoint says of itself. */
  options(table: string): Promise<Result<Row>>;
  /** Any other document below `/api/`. */
  document(path: string, doing: string): Promise<Result<Row>>;
  /** Whether the instance is known to be of that version or a later one. */
  isAtLeast(major: number, minor: number): boolean;
}

/** The address of a list or of one object. */
export const pathOf = (table: string, key?: number): string =>
  `/api/${table}/${key === undefined ? '' : `${key}/`}`;

/** Columns whose members are read ask for the column alone. */
export const columnsOf = (fields: string[]): string[] => [
  ...new Set(['id', 'last_updated', ...fields.map((path) => path.split('.')[0]!)]),
];

const noTable = (table: string) =>
  failed('not_found', `table ${table}`, `There is no table ${table}: it is named as its address below /api/`);

export function createApi(transport: Transport): Api {
  let version: [number, number] | undefined;

  const hear = ({ headers }: Answered): void => {
    const [, major, minor] = /^(\d+)\.(\d+)/.exec(headers['api-version'] ?? '') ?? [];
    if (major !== undefined) version = [Number(major), Number(minor)];
  };

  const send = async (...call: Parameters<Transport['send']>): Promise<Result<Answered>> => {
    const answer = await transport.send(...call);
    if (answer.ok) hear(answer.value);
    return answer;
  };

  const object = async (...call: Parameters<Transport['send']>): Promise<Result<Row>> => {
    const answer = await send(...call);
    return answer.ok ? done((answer.value.result ?? {}) as Row) : answer;
  };

  return {
    async list(table, query, limit, doing) {
      if (!isTable(table)) return noTable(table);
      const answer = await send({ method: 'GET', path: pathOf(table), doing, query, pageSize: limit });
      if (!answer.ok) return answer;
      const { results, next } = (answer.value.result ?? {}) as { results?: unknown; next?: unknown };
      if (!Array.isArray(results))
        return failed('unreadable_answer', pathOf(table), `${doing} was answered without a list`);
      return done({ rows: results as Row[], more: typeof next === 'string' });
    },
    async one(table, key, fields, doing) {
      if (!isTable(table)) return noTable(table);
      const query = { fields: columnsOf(fields).join(',') };
      return send({ method: 'GET', path: pathOf(table, key), doing, query: () => query });
    },
    async options(table) {
      if (!isTable(table)) return noTable(table);
      return object({ method: 'OPTIONS', path: pathOf(table), doing: `Asking what ${table} offers` });
    },
    document: (path, doing) => object({ method: 'GET', path: `/api/${path}`, doing }),
    isAtLeast: (major, minor) =>
      version !== undefined && (version[0] > major || (version[0] === major && version[1] >= minor)),
  };
}
