import Type, { type TProperties, type TSchema } from 'typebox';
import type { SortField } from '../../domain/kernel/lists/lists.types.ts';
import { component, itemComponent, Nullable, object, partialObject } from '../../domain/kernel/shapes.ts';

/** Normalises an id: UUIDs are accepted in either case. */
export const plainId = (id: string): string => id.toLowerCase();

/** Response schemas of a resource: `whole`, and `item` of a list, of which `fields` can select members. */
export function answersOf<P extends TProperties>(name: string, members: P) {
  return {
    whole: component(name, members),
    item: itemComponent(`${name}Item`, members),
  };
}

/** The bodies that create and change a resource: with the members that a creation requires, and others. */
export function bodiesOf<R extends TProperties, O extends TProperties>(required: R, optional: O) {
  return {
    create: object({ ...required, ...Type.Partial(Type.Object(optional)).properties }),
    patch: partialObject({ ...required, ...optional }),
  };
}

/** The query parameters of every list; `sorts` are its sort fields, by name. */
export function listQuery<T extends Record<string, TSchema>>(
  sorts: readonly string[] | Readonly<Record<string, SortField>>,
  defaultSort: string,
  more: T,
) {
  const names = Array.isArray(sorts) ? (sorts as readonly string[]) : Object.keys(sorts);
  return object({
    page: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      default: 1,
      description: 'From 1; not together with `cursor`',
    }),
    page_size: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Items per page' }),
    sort_by: Type.Optional(
      Type.String({
        maxLength: 120,
        // names in backticks, or <key> would be rendered as a tag
        description: `One of ${names.map((sort) => sort.replace(/^\S+/, '`$&`')).join(', ')}; default ${defaultSort}`,
      }),
    ),
    sort_dir: Type.Optional(
      Type.Union([Type.Literal('asc'), Type.Literal('desc')], { description: 'Ties are broken by id' }),
    ),
    search: Type.Optional(Type.String({ maxLength: 200, description: 'Words to search for' })),
    cursor: Type.Optional(
      Type.String({
        maxLength: 1000,
        description:
          'Empty for the first page, then the `next_cursor` of the previous response. Every row that exists during the whole iteration is returned exactly once, regardless of concurrent writes. Without `total`.',
      }),
    ),
    fields: Type.Optional(
      Type.String({ maxLength: 1000, description: 'Comma-separated members of the items to return' }),
    ),
    ...more,
  });
}

/** The response of a list: a page with `total`, or a cursor page with `next_cursor`. */
export function listAnswer(item: TSchema) {
  return object({
    items: Type.Array(item),
    total: Type.Optional(Type.Integer({ minimum: 0 })),
    page: Type.Optional(Type.Integer({ minimum: 1 })),
    page_size: Type.Integer({ minimum: 1 }),
    next_cursor: Type.Optional(Nullable(Type.String())),
  });
}

export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String(),
    request_id: Type.String(),
    errors: Type.Optional(
      Type.Array(object({ field: Type.String(), code: Type.String(), message: Type.String() })),
    ),
  },
  { $id: 'Problem', additionalProperties: true, description: 'Problem details, RFC 9457' },
);
