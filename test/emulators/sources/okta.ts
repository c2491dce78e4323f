import { type SourceApi, type SourceOptions, serveSource } from './serve.ts';

interface OktaApp {
  id: string;
  name?: string;
  label: string;
  status: 'ACTIVE' | 'INACTIVE';
  lastUpdated: string;
  created: string;
  signOnMode: string;
}

export interface Okta extends SourceApi {
  apps: Partial<OktaApp>[];
}

/**
 * Okta: `GET /api/v1/apps` (https://developer.okta.com/docs/api/openapi/okta-management/management/tag/Application/), with an API token
 * (`SSWS`) and links of pages in the Link header (https://developer.okta.com/docs/api/#pagination).
 */
export async function startOkta(options: SourceOptions): Promise<Okta> {
  const refusal = { errorCode: 'E0000011', errorSummary: 'Invalid token provided' };
  const served = await serveSource(options, refusal, ({ method, url }) => {
    if (method !== 'GET' || url.pathname !== '/api/v1/apps')
      return { status: 404, body: { errorCode: 'E0000007', errorSummary: 'Not found' } };
    const limit = Number(url.searchParams.get('limit') ?? 20);
    if (!(limit >= 1 && limit <= 200))
      return { status: 400, body: { errorCode: 'E0000001', errorSummary: 'Api validation failed: limit' } };
    const all = okta.apps.filter(
      ({ status }) => status === 'ACTIVE' || url.searchParams.get('includeNonDeleted') === 'true',
    );
    const after = url.searchParams.get('after');
    const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const page = all.slice(from, from + limit);
    const links = [`<${okta.base}${url.pathname}${url.search}>; rel="self"`];
    if (from + limit < all.length) {
      const next = new URLSearchParams(url.searchParams);
      next.set('after', page.at(-1)!.id!);
      links.push(`<${okta.base}${url.pathname}?${next}>; rel="next"`);
    }
    return { status: 200, headers: { link: links.join(', ') }, body: page };
  });
  const okta: Okta = { ...served, apps: [] };
  return okta;
}
