import { EstateError, invalidField } from '../../../platform/errors.ts';
import { checkedShares, sharedWithCaller, sharesSeen } from '../../access/shares.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import type { DiagramInput, DiagramRow } from './diagrams.types.ts';

/** Who sees a diagram, over the alias `d`. */
export const VISIBILITY = `case when d.private_to is null then 'public' when d.shared_with = '[]' then 'private' else 'shared' end`;

/** Whether a diagram is shared with the caller, over the alias `d`. */
export const sharedWithMe = (ctx: Ctx): Fragment => sharedWithCaller(ctx, 'd.shared_with');

/** With whom a diagram is shared, over the alias `d`, by name; only its maker sees the others. */
export const sharesOf = (ctx: Ctx): Fragment => sharesSeen(ctx, 'd.shared_with', 'd.private_to');

/** Whether the caller may change a diagram that he sees. */
export const mayEdit = (
  ctx: Ctx,
  { private_to, shared_with }: Pick<DiagramRow, 'private_to' | 'shared_with'>,
): boolean =>
  private_to === null ||
  private_to === ctx.caller.userId ||
  shared_with.some(({ user_id, can_edit }) => user_id === ctx.caller.userId && can_edit);

/** @throws EstateError `forbidden` for anybody but the maker. */
export function requireMaker(ctx: Ctx, row: DiagramRow, what: string): void {
  if (row.created_by === ctx.caller.userId) return;
  throw new EstateError('forbidden', `Only its maker ${what}.`, {
    extra: { permission: 'diagrams.manage' },
  });
}

/**
 * Who sees a diagram from now on. What is said of one of `visibility` and `shared_with` alone has to fit the other.
 * @param before null for a new one, which its maker makes public unless he says otherwise.
 * @throws EstateError `validation_failed`, `forbidden` for anybody but the maker where something would change.
 */
export async function checkedAudience(
  work: Work,
  ctx: Ctx,
  { visibility, shared_with }: DiagramInput,
  before: DiagramRow | null,
): Promise<Pick<DiagramRow, 'private_to' | 'shared_with'>> {
  const now = before ?? { private_to: null, shared_with: [] };
  if (visibility === undefined && shared_with === undefined) return now;
  const owner = before?.created_by ?? ctx.caller.userId;
  const given = await checkedShares(work, shared_with ?? [], { id: owner, called: 'its maker' });
  const named = shared_with === undefined ? now.shared_with : given;
  // whoever shares, or ends that, need not say so twice
  const isShared = now.private_to !== null && visibility === undefined;
  const wanted = visibility ?? (isShared ? (named.length > 0 ? 'shared' : 'private') : 'public');
  if (wanted !== 'shared' && given.length > 0) {
    throw invalidField('shared_with', 'not_offered', `is nobody’s while the diagram is ${wanted}`);
  }
  if (wanted === 'shared' && named.length === 0) {
    throw invalidField('shared_with', 'required', 'must name somebody');
  }
  const after = {
    private_to: wanted === 'public' ? null : owner,
    shared_with: wanted === 'shared' ? named : [],
  };
  const { private_to, shared_with: shared } = now;
  if (before && Object.keys(differing({ private_to, shared_with: shared }, after)).length > 0) {
    requireMaker(ctx, before, 'decides who sees a diagram');
  }
  return after;
}
