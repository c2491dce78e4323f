import Type, { type Static } from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import { Choice, Flag, itemsIn, keyed, OpenObject, object, optional, TextUpTo } from '../../kernel/shapes.ts';
import { protocolHeader } from './connections.auth.ts';

const path = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });
const parameter = (description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9_.$~\\[\\]-]{1,100}$', examples: ['limit'], description });
const header = (description: string) => Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$', description });

const requestParameters = optional({
  limit_parameter: parameter('The parameter for the number of rows of a page'),
  page_size: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum rows of a page that the server accepts; default: 1,000',
  }),
  max_pages: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'A list with more pages is not read; default: 10,000',
  }),
  since_parameter: parameter('The parameter that limits the list to rows changed since a time (RFC 3339)'),
  since_value: Type.String({
    minLength: 1,
    maxLength: 500,
    examples: ['lastUpdated gt "{since}"'],
    description:
      'The value of `since_parameter`, with the time at `{since}` (RFC 3339), `{since_date}` or `{since_seconds}` (since 1970)',
  }),
});
const isStable = Type.Optional(
  Flag(
    'Whether no row can be skipped when rows are added or deleted between two pages, as with keyset paging or snapshots. If false, rows that are missing in a full read do not count as deleted',
  ),
);

const Paging = Type.Union(
  [
    object({
      by: Type.Literal('link'),
      next: Type.Optional(path('The path of the URL of the next page; default: the Link header')),
      is_stable: isStable,
      ...requestParameters,
    }),
    object({
      by: Type.Literal('cursor'),
      next: Type.Optional(path('The path of the cursor of the next page')),
      next_header: Type.Optional(header('The response header with the cursor, instead of `next`')),
      more: Type.Optional(path('The path of a value that is false on the last page, such as `hasNextPage`')),
      parameter: parameter('The parameter for the cursor'),
      parameter_in: Type.Optional(
        Type.Literal('header', { description: 'Sends the cursor as a header; default: as a parameter' }),
      ),
      is_stable: isStable,
      ...requestParameters,
    }),
    object({
      by: Type.Literal('key'),
      parameter: parameter('The parameter for the key of the last row; the page starts after it'),
      ...requestParameters,
    }),
    object({
      by: Type.Literal('offset'),
      parameter: parameter('The parameter for the number of rows to skip'),
      total: Type.Optional(path('The path of the number of all rows; without it an empty page is the last')),
      is_stable: isStable,
      ...requestParameters,
    }),
    object({
      by: Type.Literal('page'),
      parameter: parameter('The parameter for the number of the page'),
      first: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 1, description: 'The number of the first page; default: 1' }),
      ),
      pages: Type.Optional(path('The path of the number of pages; without it an empty page is the last')),
      is_stable: isStable,
      ...requestParameters,
    }),
  ],
  { description: 'How a JSON list is paged; without it, one response has all rows' },
);
export type SourcePaging = Static<typeof Paging>;

const GraphQl = object(
  {
    query: Type.String({ minLength: 1, maxLength: 20_000 }),
    variables: Type.Optional(OpenObject),
  },
  { description: 'A GraphQL query; parameters of paging are its variables' },
);

const Delta = object(
  {
    next: path('The path of the delta link or token on the last page, such as `@odata.deltaLink`'),
    parameter: Type.Optional(parameter('The parameter for a token; default: `next` is a link')),
    removed: Type.Optional(
      path('The column that only deleted rows have, such as `@removed`; or have with `removed_value`'),
    ),
    removed_value: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  {
    description:
      'For lists with paging that name where the next delta starts; if the server answers 410 (Gone), everything is read',
  },
);

export const HttpSource = object({
  name: Type.String({
    pattern: '^[a-z][a-z0-9_-]{0,62}$',
    examples: ['servers'],
    description: 'The table name that mappings use',
  }),
  label: Type.Optional(Type.String({ maxLength: 255 })),
  path: TextUpTo(
    500,
    'The path below the address of the connection, with the query; empty: the address itself',
  ),
  format: Choice(['csv', 'json', 'ndjson']),
  key: path('The column that identifies a row and never changes'),
  updated: Type.Optional(path('The column with the time of the last change of a row')),
  rows: Type.Optional(path('The path of the list in a JSON document, such as `data.items`')),
  expand: Type.Optional(
    object(
      {
        rows: path('The column with the list'),
        key: path('The column that identifies an item within its row; a text is its own key'),
      },
      {
        description:
          'For json and ndjson: each item of a nested list is a row with the columns of its parent; its key is `<key of the parent>/<key of the item>`',
      },
    ),
  ),
  columns: Type.Optional(
    keyed(63, Type.String({ minLength: 1, maxLength: 300, examples: ['{name} {version?}'] }), {
      maxProperties: 20,
      description:
        'Further columns, composed of others: their paths are in braces, with `?` if they may be empty',
    }),
  ),
  join: Type.Optional(
    object(
      {
        source: Type.String({ maxLength: 63, description: 'Another source, which has its key in `by`' }),
        by: path('The column with the key of that source'),
        as: Type.String({
          pattern: '^[A-Za-z][A-Za-z0-9_]{0,62}$',
          description: 'Its columns are `<as>.<column>`; empty for rows without a match',
        }),
      },
      { description: 'Adds the columns of a row of another source, which is read whole' },
    ),
  ),
  headers: Type.Optional(
    keyed(100, Type.String({ maxLength: 500, pattern: '^[\\x20-\\x7e]*$' }), {
      maxProperties: 20,
      description: 'Headers of requests; shown with the connection, so they must not be secret',
    }),
  ),
  body: Type.Optional({
    ...OpenObject,
    description:
      'The list is requested by POST with this JSON body; parameters of paging are set in it by their paths',
  }),
  graphql: Type.Optional(GraphQl),
  separator: Type.Optional(Choice([',', ';', '\t'], 'The separator of a CSV file; default: detected')),
  references: Type.Optional(
    keyed(200, Type.String({ maxLength: 63 }), {
      maxProperties: 50,
      description: 'By column that contains the key of a row of another source, the name of that source',
    }),
  ),
  paging: Type.Optional(Paging),
  delta: Type.Optional(Delta),
});
/** A list of rows at one path of the remote. */
export type HttpSource = Static<typeof HttpSource>;

export const HttpSources = Type.Array(
  HttpSource,
  itemsIn(1, 50, 'For http: the lists to read. A change replaces all of them'),
);

// URL parsers decode %2e as a dot, and servers %2f and %5c as slashes
const outsideAddress = /(^|\/|%2f|%5c)(\.|%2e){1,2}(\/|%2f|%5c|\?|$)|[\\\s#]|^[a-z][a-z0-9+.-]*:|^\/\//i;

/** Maximum size of the body or query of a request. */
const MAX_BODY_BYTES = 64 * 1024;

/** Errors of the sources that can be found without calling the remote. */
export function sourceErrors(sources: readonly HttpSource[]): FieldError[] {
  const names = sources.map(({ name }) => name);
  return sources.flatMap((source, at) =>
    errorsOf(source, names, names.indexOf(source.name) < at).map(([member, code, message]) => ({
      field: `sources.${at}.${member}`,
      code,
      message,
    })),
  );
}

type SourceError = [member: string, code: string, message: string];

function errorsOf(source: HttpSource, names: readonly string[], isDuplicate: boolean): SourceError[] {
  const { references = {}, join } = source;
  const errors: SourceError[] = [...formatErrors(source), ...requestErrors(source), ...pagingErrors(source)];
  if (isDuplicate) errors.push(['name', 'duplicate', 'is the name of another source']);
  for (const [column, target] of Object.entries(references))
    if (!names.includes(target))
      errors.push([`references.${column}`, 'unknown_source', `${target} is not a source of the connection`]);
  if (join && (join.source === source.name || !names.includes(join.source)))
    errors.push(['join.source', 'unknown_source', 'is not another source of the connection']);
  return errors;
}

/** Errors of members that are not for the format. */
function formatErrors(source: HttpSource): SourceError[] {
  const { format, paging, delta, expand, separator } = source;
  const onlyJson = (['paging', 'rows', 'body', 'graphql'] as const).filter(
    (member) => format !== 'json' && source[member] !== undefined,
  );
  const errors = onlyJson.map((member): SourceError => [member, 'not_offered', 'is only for json']);
  if (expand && (format === 'csv' || paging?.by === 'key' || delta))
    errors.push(['expand', 'not_offered', 'is not for csv, paging by key, and delta']);
  if (format !== 'csv' && separator !== undefined)
    errors.push(['separator', 'not_offered', 'is only for csv']);
  return errors;
}

function requestErrors({ path: sourcePath, body, graphql, headers = {} }: HttpSource): SourceError[] {
  const errors: SourceError[] = [];
  if (outsideAddress.test(sourcePath))
    errors.push(['path', 'format', 'must be a path below the address of the connection']);
  if (body && graphql) errors.push(['graphql', 'not_offered', 'is not offered with a body']);
  if (JSON.stringify(body ?? graphql ?? null).length > MAX_BODY_BYTES)
    errors.push([body ? 'body' : 'graphql', 'too_long', `is longer than ${MAX_BODY_BYTES} bytes`]);
  for (const name of Object.keys(headers))
    if (!/^[A-Za-z0-9-]+$/.test(name) || /^authorization$/i.test(name) || isOwnHeader(name))
      errors.push([`headers.${name}`, 'not_offered', 'is set by the service']);
  return errors;
}

function pagingErrors({ paging, delta }: HttpSource): SourceError[] {
  const errors: SourceError[] = [];
  if (delta && !paging) errors.push(['delta', 'not_offered', 'is only for lists with paging']);
  if (paging?.by === 'cursor' && (paging.next === undefined) === (paging.next_header === undefined))
    errors.push(['paging.next', 'required', 'is needed, or next_header instead']);
  if (paging?.since_value !== undefined && !/\{since(_date|_seconds)?\}/.test(paging.since_value))
    errors.push(['paging.since_value', 'format', 'must contain {since}, {since_date} or {since_seconds}']);
  return errors;
}

const isOwnHeader = (name: string): boolean => protocolHeader.test(name) && !/^accept$/i.test(name);
