import type { Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { checkedShares, sharedWithCaller, sharesSeen } from '../../access/shares.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import type { Condition, Fragment } from '../../kernel/lists/lists.types.ts';
import type { DiagramRow } from './diagrams.model.ts';
import type { DiagramInput } from './diagrams.types.ts';

/** Who sees a diagram, over the alias `d`. */
export const VISIBILITY = `case when d.private_to is null then 'public' when d.shared_with = '[]' then 'private' else 'shared' end`;

/** The diagrams that the caller sees, over the alias `d`: public ones, own ones, and those shared with the caller. */
export function visibleDiagrams(ctx: Ctx): Condition {
  const shared = sharedWithCaller(ctx, 'd.shared_with');
  return {
    sql: `(d.private_to is null or d.private_to = ?::uuid or ${shared.sql})`,
    bindings: [ctx.caller.userId, ...shared.bindings],
    visibility: true,
  };
}

/** The users with whom a diagram is shared, over the alias `d`, by name; only its owner sees all of them. */
export const sharesOf = (ctx: Ctx): Fragment => sharesSeen(ctx, 'd.shared_with', 'd.private_to');

/** The owners of those of the diagrams that are not public, by the diagram's id. */
export async function ownersOf(sql: Sql, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows: { id: string; private_to: string }[] = await sql('diagrams')
    .whereIn('id', ids)
    .whereNotNull('private_to')
    .select('id', 'private_to');
  return new Map(rows.map((row) => [row.id, row.private_to]));
}

/** Whether the caller may change a diagram that is visible to the caller. */
export const mayEdit = (
  ctx: Ctx,
  { private_to, shared_with }: Pick<DiagramRow, 'private_to' | 'shared_with'>,
): boolean =>
  private_to === null ||
  private_to === ctx.caller.userId ||
  shared_with.some(({ user_id, can_edit }) => user_id === ctx.caller.userId && can_edit);

/** @throws EstateError `forbidden` unless the caller owns the diagram. */
export function requireOwner(ctx: Ctx, row: DiagramRow, action: string): void {
  if (row.created_by === ctx.caller.userId) return;
  throw new EstateError('forbidden', `Only its owner may ${action}.`, {
    extra: { permission: 'diagrams.manage' },
  });
}

/**
 * Who is to see a diagram. `visibility` and `shared_with` have to be consistent; each may be given without the other.
 * @param before null for a new diagram, which is public by default.
 * @throws EstateError `validation_failed`, `forbidden` for anybody but the owner where something would change.
 */
export async function checkVisibility(
  work: Work,
  ctx: Ctx,
  { visibility, shared_with }: DiagramInput,
  before: DiagramRow | null,
): Promise<Pick<DiagramRow, 'private_to' | 'shared_with'>> {
  const current = { private_to: before?.private_to ?? null, shared_with: before?.shared_with ?? [] };
  if (visibility === undefined && shared_with === undefined) return current;
  const owner = before?.created_by ?? ctx.caller.userId;
  const given = await checkedShares(work, shared_with ?? [], { id: owner, called: 'the owner' });
  const shares = shared_with === undefined ? current.shared_with : given;
  // without `visibility`, `shared_with` makes a private diagram shared, and a shared one private when it is empty
  const isOwn = current.private_to !== null && visibility === undefined;
  const wanted = visibility ?? (isOwn ? (shares.length > 0 ? 'shared' : 'private') : 'public');
  if (wanted !== 'shared' && given.length > 0) {
    throw invalidField('shared_with', 'not_offered', `must be empty while the diagram is ${wanted}`);
  }
  if (wanted === 'shared' && shares.length === 0) {
    throw invalidField('shared_with', 'required', 'must name somebody');
  }
  const after = {
    private_to: wanted === 'public' ? null : owner,
    shared_with: wanted === 'shared' ? shares : [],
  };
  if (before && Object.keys(differing(current, after)).length > 0) {
    requireOwner(ctx, before, 'change who sees a diagram');
  }
  return after;
}
