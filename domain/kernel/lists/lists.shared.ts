import type { Static } from 'typebox';
import { embed, fragment } from '../../../platform/database.ts';
import type { Ctx } from '../context.ts';
import { Choice } from '../shapes.ts';
import type { Condition, Fragment } from './lists.types.ts';

/** The visibility of an object that has an owner. */
export const visibilities = ['private', 'shared', 'public'] as const;

/** The filter of lists of such objects. */
export const sharedFilter = Choice(['all', 'my', 'shared', 'public'], {
  default: 'all',
  description: 'Only your own, those shared with you, or public ones',
});
export type SharedKind = Static<typeof sharedFilter>;

const own = (ctx: Ctx, alias: string): Condition =>
  fragment`${embed(alias)}.owner_id = ${ctx.caller.userId}::uuid`;
const open = (alias: string): Condition => fragment`${embed(alias)}.visibility = 'public'`;

/**
 * The visible objects with an owner and a visibility: the caller's own, public ones and those shared with the caller.
 * @param shared the condition that an object is shared with the caller.
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
export function sharedKindConditions(
  ctx: Ctx,
  alias: string,
  shared: Fragment,
  kind: SharedKind | undefined,
): Condition[] {
  if (kind === 'my') return [own(ctx, alias)];
  if (kind === 'shared') return [shared];
  return kind === 'public' ? [open(alias)] : [];
}
