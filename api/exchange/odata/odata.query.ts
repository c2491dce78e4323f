import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { EstateError } from '../../../platform/errors.ts';

const option = (description: string, example?: string) =>
  Type.Optional(Type.String({ maxLength: 8000, description, ...(example ? { examples: [example] } : {}) }));

/** The system query options. Unsupported ones are declared as well, so that they are refused with 501. */
export const ODataQuery = Type.Object(
  {
    $filter: option("Condition of the entities, such as `name eq 'Claims'`", "contains(name,'a')"),
    $select: option('Properties, comma-separated', 'id,name'),
    $expand: option(
      'Navigation properties to include, each with its own options in brackets',
      'Parent($select=name)',
    ),
    $orderby: option('Properties to order by, each with `asc` or `desc`', 'name desc'),
    $top: option('Maximum number of entities', '10'),
    $skip: option('Number of entities to skip', '0'),
    $count: option('`true` adds the total number of entities', 'true'),
    $search: option('Words and quoted phrases, joined by AND, OR and NOT', 'claims'),
    $format: option('The media type of the response; overrides `Accept`', 'json'),
    $skiptoken: option('Position of the next page; part of `@odata.nextLink`'),
    $deltatoken: option('Position after which changes are returned; part of `@odata.deltaLink`'),
    $compute: option('Not supported: refused with 501'),
    $apply: option('Not supported: refused with 501'),
    $levels: option('Not supported: refused with 501'),
    $index: option('Not supported: refused with 501'),
    $schemaversion: option('Not supported: refused with 501'),
  },
  { additionalProperties: false },
);

export const FormatQuery = Type.Pick(ODataQuery, ['$format'], { additionalProperties: false });

const known = new Set(Object.keys(ODataQuery.properties));
const aliases = new WeakMap<FastifyRequest, Map<string, string>>();

/** The parameter aliases of a request by name with `@`. */
export const aliasesOf = (request: FastifyRequest): ReadonlyMap<string, string> =>
  aliases.get(request) ?? new Map();

/**
 * Normalises the names of options: version 4.01 allows clients to omit the `$` and to use any case. Parameter aliases are
 * removed from the query and stored for {@link aliasesOf}.
 */
export function normaliseQuery(request: FastifyRequest): void {
  const given = request.query as Record<string, unknown>;
  const options: Record<string, unknown> = {};
  const own = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith('@')) {
      if (typeof value === 'string' && value.length <= 8000) own.set(name, value);
      else
        throw new EstateError('odata_invalid_query', `${name}: is sent twice or too long`, {
          extra: { target: name },
        });
      continue;
    }
    const plain = `$${name.replace(/^\$/, '').toLowerCase()}`;
    const key = known.has(plain) ? plain : name;
    options[key] = Object.hasOwn(options, key) ? [options[key], value].flat() : value;
  }
  if (own.size > 0) aliases.set(request, own);
  request.query = options;
}
