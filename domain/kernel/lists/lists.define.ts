import { embed, fragment, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { DEFAULT_LANGUAGE } from '../metamodel/languages.ts';
import { requirePermission } from '../permissions/policy.ts';
import { readItem, runList } from './lists.run.ts';
import type { Filters, JsonText, ListParamsOf, ListSpec, MemberFor, RequestList } from './lists.types.ts';

/** Declares a list that requests read. */
export const defineList = <
  M extends RequestList['members'],
  R extends RequestList['from'],
  F extends Filters = Record<never, never>,
>(
  list: RequestList<F, M, R>,
): RequestList<F, M, R> => list;

/**
 * Declares a list that differs by its reader or the language.
 * @param declared the variant that routes describe.
 */
export const defineVariants = <V, L extends object>(
  declared: V,
  variantFor: (ctx: Ctx, language: string) => V,
  of: (variant: V) => L,
) => ({ ...of(declared), variant: (ctx: Ctx, language: string) => of(variantFor(ctx, language)) });

/** Declares a list with labels in the language of the request. */
export const defineLabelled = <L extends object>(of: (language: string) => L) =>
  defineVariants(DEFAULT_LANGUAGE, (_ctx, language) => language, of);

/**
 * The conditions of a list of the parts of a row, whose id is first in the path.
 * @param what messages call the row so.
 * @param column the id of the row in the list.
 */
export const ofParent =
  (table: string, what: string, column: string) => async (ctx: Ctx, _params: unknown, id?: string) => {
    if (!(await ctx.db(table).where({ id }).first('id'))) throw notFound(what, id!);
    return [fragment`${embed(column)} = ${id}::uuid`];
  };

/** A list as the caller sees it. */
export function listFor(
  ctx: Ctx,
  { from, members, search, ...list }: Omit<RequestList, 'where'>,
  ...path: string[]
): ListSpec {
  const shown = (member: MemberFor) => (typeof member === 'function' ? member(ctx) : member);
  return {
    ...list,
    ...(search && { search: shown(search) }),
    from: typeof from === 'function' ? from(ctx, ...path) : from,
    members:
      typeof members === 'function'
        ? members(ctx)
        : Object.fromEntries(Object.entries(members).map(([name, member]) => [name, shown(member)])),
  };
}

/**
 * A page of a list for a request.
 * @param path the parameters of its path.
 * @throws EstateError `forbidden`, and what the list's conditions refuse.
 */
export async function readList<F extends Filters>(
  ctx: Ctx,
  list: RequestList<F>,
  params: ListParamsOf<F>,
  ...path: string[]
): Promise<JsonText> {
  if (list.permission) requirePermission(ctx.caller, list.permission);
  const where = [...(list.visible?.(ctx) ?? []), ...((await list.where?.(ctx, params, ...path)) ?? [])];
  const text = await runList(ctx, listFor(ctx, list, ...path), where, params);
  if (!list.complete) return text;
  const page = JSON.parse(text) as { items: object[] };
  return JSON.stringify({ ...page, items: list.complete(ctx, page.items) });
}

/**
 * One item of a list for a request, also one that `where` excludes; `sql` may be a command's transaction.
 * @param what messages call the item so.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function readOne(
  ctx: Ctx,
  list: Omit<RequestList, 'where'>,
  what: string,
  id: string,
  sql: Sql = ctx.db,
): Promise<JsonText> {
  if (list.permission) requirePermission(ctx.caller, list.permission);
  const text = await readItem(sql, listFor(ctx, list), what, id, list.visible?.(ctx));
  return list.complete ? JSON.stringify(list.complete(ctx, [JSON.parse(text)])[0]) : text;
}
