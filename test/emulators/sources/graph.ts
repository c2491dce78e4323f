import { fromCursor, type SourceApi, type SourceOptions, serveSource, toCursor } from './serve.ts';

type Item = Record<string, unknown> & { id: string };

export interface Graph extends SourceApi {
  /** Stores an application, as a change after all delta links so far. */
  put(item: Item): void;
  remove(id: string): void;
  signIns: { appId: string; lastSignInActivity: { lastSignInDateTime: string } }[];
  /** What happens to delta links that were issued before: they are accepted, or answered by one of these statuses. */
  expired: 400 | 410 | undefined;
  /** Members that are no longer returned. */
  lost: Set<string>;
}

const PAGE = 200;

/**
 * Microsoft Graph: `GET /v1.0/applications/delta` (https://learn.microsoft.com/graph/api/application-delta and
 * https://learn.microsoft.com/graph/delta-query-overview: next links, delta links, `@removed`, 410; expired tokens of directory
 * resources are 400 `syncStateNotFound`,
 * https://devblogs.microsoft.com/microsoft365dev/duration-of-change-tracking-tokens-for-identity-and-education-resources/), and
 * `GET /beta/reports/servicePrincipalSignInActivities`
 * (https://learn.microsoft.com/graph/api/reportroot-list-serviceprincipalsigninactivities).
 */
export async function startGraph(options: SourceOptions): Promise<Graph> {
  const items = new Map<string, Item>();
  let changes: string[] = [];
  const failure = (code: string, message: string) => ({ error: { code, message } });

  const shown = (item: Item, select: string | null) => {
    const names = select === null ? Object.keys(item) : ['id', ...select.split(',')];
    return Object.fromEntries(
      names.filter((name) => name in item && !graph.lost.has(name)).map((name) => [name, item[name]]),
    );
  };
  /** `from`: changes after this one; undefined: all. */
  const delta = (url: URL) => {
    const token = url.searchParams.get('$deltatoken') ?? url.searchParams.get('$skiptoken');
    const { select, from, at } = token
      ? fromCursor(token)
      : { select: url.searchParams.get('$select'), from: undefined, at: 0 };
    if (url.searchParams.has('$deltatoken') && graph.expired)
      return { status: graph.expired, body: failure('syncStateNotFound', 'The delta token is expired.') };
    const ids = from === undefined ? [...items.keys()] : [...new Set(changes.slice(from))];
    const value = ids.slice(at, at + PAGE).map((id) => {
      const item = items.get(id);
      return item ? shown(item, select) : { id, '@removed': { reason: 'deleted' } };
    });
    const link = (name: string, state: object) =>
      `${graph.base}/v1.0/applications/delta?${new URLSearchParams({ [name]: toCursor(state) })}`;
    const next =
      at + PAGE < ids.length
        ? { '@odata.nextLink': link('$skiptoken', { select, from, at: at + PAGE }) }
        : { '@odata.deltaLink': link('$deltatoken', { select, from: changes.length, at: 0 }) };
    return {
      status: 200,
      body: { '@odata.context': `${graph.base}/v1.0/$metadata#applications`, value, ...next },
    };
  };
  const activities = (url: URL) => {
    const at = Number(url.searchParams.get('$skiptoken') ?? 0);
    const value = graph.signIns.slice(at, at + PAGE);
    const next = `${graph.base}${url.pathname}?$skiptoken=${at + PAGE}`;
    return {
      status: 200,
      body: { value, ...(at + PAGE < graph.signIns.length ? { '@odata.nextLink': next } : {}) },
    };
  };
  const served = await serveSource(
    options,
    failure('InvalidAuthenticationToken', 'Access token has expired or is not yet valid.'),
    ({ method, url }) => {
      if (method === 'GET' && url.pathname === '/v1.0/applications/delta') return delta(url);
      if (method === 'GET' && url.pathname === '/beta/reports/servicePrincipalSignInActivities')
        return activities(url);
      return { status: 404, body: failure('ResourceNotFound', 'Resource not found.') };
    },
  );
  const graph: Graph = {
    ...served,
    signIns: [],
    expired: undefined,
    lost: new Set(),
    put(item) {
      items.set(item.id, { ...items.get(item.id), ...item });
      changes = [...changes, item.id];
    },
    remove(id) {
      items.delete(id);
      changes = [...changes, id];
    },
  };
  return graph;
}
