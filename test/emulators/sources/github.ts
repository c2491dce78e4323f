import { type SourceApi, type SourceOptions, serveSource } from './serve.ts';

interface Repository {
  id: string;
  name: string;
  nameWithOwner: string;
  description?: string | null;
  updatedAt: string;
  [member: string]: unknown;
}

export interface GitHub extends SourceApi {
  /** In the order of their creation. */
  repositories: Repository[];
}

/**
 * GitHub: `POST /graphql` with `organization.repositories` in pages of at most 100
 * (https://docs.github.com/graphql/guides/using-pagination-in-the-graphql-api; errors have the status 200, rate limits also 403 or 200
 * with `RATE_LIMITED`, https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api).
 */
export async function startGitHub(options: SourceOptions, organization: string): Promise<GitHub> {
  const served = await serveSource(options, { message: 'Bad credentials' }, ({ method, url, body }) => {
    if (method !== 'POST' || url.pathname !== '/graphql')
      return { status: 404, body: { message: 'Not Found' } };
    const { query, variables } = JSON.parse(body);
    const failed = (type: string, message: string) => ({
      status: 200,
      body: { data: { organization: null }, errors: [{ type, message, path: ['organization'] }] },
    });
    if (variables.organization !== organization)
      return failed(
        'NOT_FOUND',
        `Could not resolve to an Organization with the login of '${variables.organization}'.`,
      );
    const { first, after } = variables;
    if (!(first >= 1 && first <= 100))
      return failed('EXCESSIVE_PAGINATION', 'Requesting more than 100 records.');
    const [, selection = ''] = /nodes \{ (.+?) \} pageInfo/.exec(query) ?? [];
    const names = selection
      .replace(/\{[^}]*\}/g, '')
      .trim()
      .split(/\s+/);
    const from = after ? Number(Buffer.from(after, 'base64').toString().split(':')[1]) : 0;
    const page = github.repositories.slice(from, from + first);
    const nodes = page.map((one) => Object.fromEntries(names.map((name) => [name, one[name] ?? null])));
    const pageInfo = {
      hasNextPage: from + first < github.repositories.length,
      endCursor: page.length === 0 ? null : Buffer.from(`cursor:${from + page.length}`).toString('base64'),
    };
    return { status: 200, body: { data: { organization: { repositories: { nodes, pageInfo } } } } };
  });
  const github: GitHub = { ...served, repositories: [] };
  return github;
}
