import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { EstateError } from '../../../platform/errors.ts';

const option = (description: string, example?: string) =>
  Type.Optional(Type.String({ maxLength: 8000, description, ...(example ? { examples: [example] } : {}) }));

/** The system query options; what is not offered is known all the same, to be refused as such. */
export const ODataQuery = Type.Object(
  {
    $filter: option("Which entities, such as `name eq 'Claims'`", "contains(name,'a')"),
    $select: option('Which properties, comma-separated', 'id,name'),
    $expand: option(
      'Which related entities come along, with options of their own in brackets',
      'Parent($select=name)',
    ),
    $orderby: option('The order: properties, each with `asc` or `desc`', 'name desc'),
    $top: option('How many entities at most', '10'),
    $skip: option('How many entities to pass over', '0'),
    $count: option('`true` adds how many entities there are', 'true'),
    $search: option('Words and quoted phrases, joined by AND, OR and NOT', 'claims'),
    $format: option('The form of the answer, before `Accept`', 'json'),
    $skiptoken: option('Where a further page begins; part of the links that answers hold'),
    $deltatoken: option('Since when changes are told; part of the links that answers hold'),
    $compute: option('Not offered: refused with 501'),
    $apply: option('Not offered: refused with 501'),
    $levels: option('Not offered: refused with 501'),
    $index: option('Not offered: refused with 501'),
    $schemaversion: option('Not offered: refused with 501'),
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
 * Brings the names of options into the one form that is checked: version 4.01 lets clients leave out the `$` and write
 * them in any case. Parameter aliases are put aside.
 */
export function normaliseQuery(request: FastifyRequest): void {
  const given = request.query as Record<string, unknown>;
  const options: Record<string, unknown> = {};
  const own = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith('@')) {
      if (typeof value === 'string' && value.length <= 8000) own.set(name, value);
      else
        throw new EstateError('odata_invalid_query', `${name}: is given twice or too long`, {
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
