import type { Ctx } from '../context.ts';
import type { Condition, Fragment } from './lists.types.ts';

/** Which things that people share a list is about. */
export type SharedKind = 'all' | 'my' | 'shared' | 'public';

const own = (ctx: Ctx, alias: string): Condition => ({
  sql: `${alias}.owner_id = ?::uuid`,
  bindings: [ctx.caller.userId],
});
const open = (alias: string): Condition => ({ sql: `${alias}.visibility = 'public'`, bindings: [] });

/**
 * What the caller sees of things with an owner and a visibility: the own ones, public ones and those shared with the caller.
 * @param shared when a thing counts as shared with the caller.
 */
export function visibleShared(ctx: Ctx, alias: string, shared: Fragment): Condition {
  const mine = own(ctx, alias);
  return {
    sql: `(${mine.sql} or ${open(alias).sql} or ${shared.sql})`,
    bindings: [...mine.bindings, ...shared.bindings],
    visibility: true,
  };
}

/** The conditions of a kind; none for all. */
export function ofSharedKind(
  ctx: Ctx,
  alias: string,
  shared: Fragment,
  kind: SharedKind | undefined,
): Condition[] {
  if (kind === 'my') return [own(ctx, alias)];
  if (kind === 'shared') return [shared];
  return kind === 'public' ? [open(alias)] : [];
}
