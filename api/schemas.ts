import Type, { type TProperties, type TSchema } from 'typebox';
import type { FilterSchemas, Filters, SortField } from '../domain/kernel/lists/lists.types.ts';
import { Choice, Count, Nullable, object, optional, partialObject } from '../domain/kernel/shapes.ts';

/** Normalises an id: UUIDs are accepted in either case. */
export const plainId = (id: string): string => id.toLowerCase();

/** The bodies that create and change a resource: with the members that a creation requires, and others. */
export function bodiesOf<R extends TProperties, O extends TProperties>(required: R, more: O) {
  return {
    create: object({ ...required, ...optional(more) }),
    patch: partialObject({ ...required, ...more }),
  };
}

/** The schemas of a list's filters. */
export const filterSchemas = <F extends Filters>({ filters }: { filters?: F }) =>
  Object.fromEntries(
    Object.entries(filters ?? {}).map(([name, filter]) => {
      if (!Array.isArray(filter)) return [name, filter];
      const schema = filter[0] as TSchema;
      return [name, 'default' in schema ? schema : Type.Optional(schema)];
    }),
  ) as FilterSchemas<F>;

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
    ...optional({
      sort_by: Type.String({
        maxLength: 500,
        // names in backticks, or <key> would be rendered as a tag
        description: `One of ${names.map((sort) => sort.replace(/^\S+/, '`$&`')).join(', ')}; default ${defaultSort}`,
      }),
      sort_dir: Choice(['asc', 'desc'], 'Ties are broken by id'),
      search: Type.String({ maxLength: 200, description: 'Words to search for' }),
      cursor: Type.String({
        maxLength: 1000,
        description:
          'Empty for the first page, then the `next_cursor` of the previous response. Every row that exists during the whole iteration is returned exactly once, regardless of concurrent writes. Without `total`.',
      }),
      offset: Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'With an empty `cursor`: how many rows before its first page are skipped',
      }),
      fields: Type.String({ maxLength: 1000, description: 'Comma-separated members of the items to return' }),
    }),
    ...more,
  });
}

/** The schema of a resource as an item of a list, from which `fields` can select members. */
function itemSchema({ required, ...schema }: TSchema & { $id?: string; required?: string[] }): TSchema {
  return schema.$id && required ? { ...schema, $id: `${schema.$id}Item` } : { ...schema, required };
}

/**
 * The response of a list: a page with `total`, or a cursor page with `next_cursor`.
 * @param resource the schema of one resource; its component for items has the suffix `Item`.
 */
export function listResponse(resource: TSchema) {
  return object({
    items: Type.Array(itemSchema(resource)),
    total: Type.Optional(Count),
    page: Type.Optional(Type.Integer({ minimum: 1 })),
    page_size: Type.Integer({ minimum: 1 }),
    next_cursor: Type.Optional(Nullable(Type.String())),
  });
}

/** Attributes in a request: null clears one, or all. */
export const attributesSchema = (description: string) =>
  Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      maxProperties: 1_000,
      description,
    }),
  );

/** One error in the input. */
export const FieldErrorSchema = object({
  field: Type.String(),
  code: Type.String(),
  message: Type.String(),
  ...optional({
    value: Type.String({ description: 'The refused value, if it had to be one of a list' }),
    allowed: Type.Array(Type.String(), { description: 'The list, or its first 50 members' }),
    nearest: Type.String({ description: 'The member of the list that was probably meant' }),
  }),
});

export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String(),
    request_id: Type.String(),
    errors: Type.Optional(Type.Array(FieldErrorSchema)),
  },
  { $id: 'Problem', additionalProperties: true, description: 'Problem details, RFC 9457' },
);
