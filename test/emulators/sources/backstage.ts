import { fromCursor, type SourceApi, type SourceOptions, serveSource, toCursor } from './serve.ts';

interface Entity {
  kind: string;
  metadata: { uid: string; name: string; namespace?: string; description?: string };
  spec?: Record<string, unknown>;
}

export interface Backstage extends SourceApi {
  entities: Entity[];
}

/**
 * The catalogue of Backstage: `GET /api/catalog/entities/by-query`, with a filter by kind, an order and cursors
 * (https://backstage.io/docs/features/software-catalog/software-catalog-api).
 */
export async function startBackstage(options: SourceOptions): Promise<Backstage> {
  const refusal = { error: { name: 'AuthenticationError', message: 'Illegal token' } };
  const served = await serveSource(options, refusal, ({ method, url }) => {
    if (method !== 'GET' || url.pathname !== '/api/catalog/entities/by-query')
      return { status: 404, body: { error: { name: 'NotFoundError', message: 'Not found' } } };
    const { searchParams } = url;
    const limit = Number(searchParams.get('limit') ?? 20);
    const given = searchParams.get('cursor');
    const { kind, after } = given
      ? fromCursor(given)
      : { kind: /^kind=(.+)$/.exec(searchParams.get('filter') ?? '')?.[1], after: '' };
    const all = backstage.entities
      .filter((entity) => kind === undefined || entity.kind.toLowerCase() === kind)
      .sort((a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1));
    const rest = all.filter(({ metadata: { uid } }) => uid > after);
    const items = rest.slice(0, limit);
    const nextCursor = toCursor({ kind, after: items.at(-1)?.metadata.uid });
    return {
      status: 200,
      body: { items, totalItems: all.length, pageInfo: rest.length > limit ? { nextCursor } : {} },
    };
  });
  const backstage: Backstage = { ...served, entities: [] };
  return backstage;
}
