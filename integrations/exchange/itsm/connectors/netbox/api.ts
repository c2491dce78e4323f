import { isRemoteError, RemoteError } from '../../remote.ts';
import {
  type Call,
  defaultTransport,
  type Response,
  type Transport,
  type TransportConfig,
} from '../transport.ts';
import { isTable, type Row } from './records.ts';

export interface NetBoxConfig extends TransportConfig {
  /** `https://netbox.example.com`, with the path under which NetBox is served if there is one. */
  url: string;
  /** A token of 40 hexadecimal digits, or `nbt_…`. */
  token: string;
  /** The custom field that stores the correlation id. */
  correlationField: string;
}

export const defaultConfig: Omit<NetBoxConfig, 'url' | 'token'> = {
  ...defaultTransport,
  correlationField: 'estate_correlation',
};

/** One page of a list. */
export interface ListPage {
  rows: Row[];
  /** Whether more rows follow; a page may be shorter than requested. */
  hasMore: boolean;
}

type Conditions = Record<string, string> | [string, string][] | URLSearchParams;

/** What to read of a list. */
interface ListOptions {
  limit: number;
  doing: string;
}

/** The endpoints of the REST API. */
export interface Api {
  /** One page. */
  list(table: string, conditions: Conditions, options: ListOptions): Promise<ListPage>;
  /** All rows that match, in the order of keys. */
  all(table: string, conditions: Conditions, options: ListOptions): Promise<Row[]>;
  /** One object by its key. */
  one(table: string, key: number, fields: string[], doing: string): Promise<Response>;
  /** The description of an endpoint by OPTIONS. */
  options(table: string): Promise<Row>;
  /** Any other document below `/api/`. */
  document(path: string, doing: string): Promise<Row>;
  /** Whether the instance is known to be of that version or a later one. */
  isAtLeast(major: number, minor: number): boolean;
}

/** The path of a list or of one object. */
export const pathOf = (table: string, key?: number): string =>
  `/api/${table}/${key === undefined ? '' : `${key}/`}`;

/** The parameter `fields` for these columns; members of a column are read with the whole column. */
export const fieldsParameter = (fields: string[]): string =>
  [...new Set(['id', 'last_updated', ...fields.map((path) => path.split('.')[0]!)])].join(',');

/** The result of the first path that exists: NetBox versions have endpoints at different paths. */
export async function tryPaths<T>(paths: string[], read: (path: string) => Promise<T>): Promise<T> {
  const [path, ...others] = paths;
  try {
    return await read(path!);
  } catch (error) {
    if (others.length === 0 || !isRemoteError(error, 'not_found')) throw error;
    return await tryPaths(others, read);
  }
}

export function createApi(transport: Transport): Api {
  let version: [number, number] | undefined;

  const send = async (call: Call): Promise<Response> => {
    const response = await transport.send(call);
    const [, major, minor] = /^(\d+)\.(\d+)/.exec(response.headers['api-version'] ?? '') ?? [];
    if (major !== undefined) version = [Number(major), Number(minor)];
    return response;
  };

  const requireTable = (table: string): void => {
    if (isTable(table)) return;
    const what = `There is no table ${table}; its name is the path below /api/`;
    throw new RemoteError('not_found', `table ${table}`, what);
  };

  const object = async (call: Call): Promise<Row> => ((await send(call)).result ?? {}) as Row;

  const list: Api['list'] = async (table, conditions, { limit, doing }) => {
    requireTable(table);
    const path = pathOf(table);
    const query = (pageSize: number) => {
      const parameters = new URLSearchParams(conditions);
      parameters.append('limit', String(pageSize));
      return parameters;
    };
    const { result } = await send({ method: 'GET', path, doing, query, pageSize: limit });
    const { results, next } = (result ?? {}) as { results?: unknown; next?: unknown };
    if (!Array.isArray(results))
      throw new RemoteError('unreadable_response', path, `${doing} returned no list`);
    return { rows: results as Row[], hasMore: typeof next === 'string' };
  };

  return {
    list,
    async all(table, conditions, options) {
      const rows: Row[] = [];
      for (let after = 0; ; ) {
        const query = new URLSearchParams(conditions);
        query.append('id__gt', String(after));
        query.append('ordering', 'id');
        const page = await list(table, query, options);
        rows.push(...page.rows);
        const last = page.rows.at(-1)?.id;
        if (!page.hasMore || typeof last !== 'number') return rows;
        if (last <= after)
          throw new RemoteError('paging_ignored', table, `${options.doing} makes no progress`);
        after = last;
      }
    },
    async one(table, key, fields, doing) {
      requireTable(table);
      const query = () => ({ fields: fieldsParameter(fields) });
      return await send({ method: 'GET', path: pathOf(table, key), doing, query });
    },
    async options(table) {
      requireTable(table);
      const doing = `Reading the description of ${table}`;
      return await object({ method: 'OPTIONS', path: pathOf(table), doing });
    },
    document: (path, doing) => object({ method: 'GET', path: `/api/${path}`, doing }),
    isAtLeast: (major, minor) =>
      version !== undefined && (version[0] > major || (version[0] === major && version[1] >= minor)),
  };
}
