import Type from 'typebox';
import type { Sql, Transaction } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { checkedShares, sharedWithCaller, type UserShare, visibleShares } from '../../access/shares.ts';
import { MAX_DESCRIPTION } from '../../inventory/cards/rules/values.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers, type EventDraft, rowChanges, rowEvent } from '../../kernel/events/row-changes.ts';
import type { Condition, Fragment } from '../../kernel/lists/lists.types.ts';
import { Internal, lockRow, type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import { Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** Who sees a diagram: everybody with `diagrams.view`, its owner alone, or the owner and those with whom it is shared. */
export const visibilities = ['public', 'private', 'shared'] as const;
type DiagramVisibility = (typeof visibilities)[number];

export interface DiagramInput {
  name?: string;
  description?: string | null;
  /** `xml`, `thumbnail`, and settings of the client; merged key by key, null clears. */
  data?: Record<string, unknown> | null;
  /** Replaces the links. */
  card_ids?: string[] | null;
  visibility?: DiagramVisibility;
  shared_with?: UserShare[] | null;
}

export const MAX_NAME = 200;

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME });

/** A drawing, by the hash of its content; drawings are never changed. */
export class Drawing extends rowModel('diagram_drawings', {
  id: Type.String(),
  xml: Type.String(),
  card_ids: SqlArray(Uuid),
  card_names: Type.Record(Type.String(), Nullable(Type.String())),
  marked: Type.Boolean(),
  left_at: Nullable(Timestamp),
}) {}

export class Diagram extends rowModel('diagrams', {
  id: Uuid,
  name: Name,
  description: Nullable(Type.String({ maxLength: MAX_DESCRIPTION })),
  drawing: Internal(Type.String()),
  thumbnail: Nullable(Type.String()),
  settings: Internal(Type.Record(Type.String(), Type.Unknown())),
  group_ids: SqlArray(Uuid),
  created_by: Nullable(Uuid),
  /** The creator of a diagram that is not public. */
  private_to: Internal(Nullable(Uuid)),
  /** Empty for public diagrams. */
  shared_with: Internal(Type.Array(Type.Object({ user_id: Uuid, can_edit: Type.Boolean() }))),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type DiagramRow = RowOf<typeof Diagram>;

/** A link of a diagram to a card. */
export class DiagramCard extends rowModel('diagram_cards', {
  id: Uuid,
  diagram_id: Uuid,
  card_id: Uuid,
  user_id: Nullable(Uuid),
  created_at: Timestamp,
}) {}
export type DiagramCardRow = RowOf<typeof DiagramCard>;

export class DiagramFavorite extends rowModel('diagram_favorites', {
  id: Uuid,
  user_id: Uuid,
  diagram_id: Uuid,
  created_at: Timestamp,
}) {}
export type DiagramFavoriteRow = RowOf<typeof DiagramFavorite>;

export class DiagramGroup extends rowModel('diagram_groups', {
  id: Uuid,
  name: Name,
  color: Nullable(Type.String({ maxLength: 7, pattern: '^#[0-9a-fA-F]{6}$', examples: ['#1976d2'] })),
  sort_order: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type DiagramGroupRow = RowOf<typeof DiagramGroup>;

/** Events of a diagram that is, or was until then, not public are for its owner alone. */
function audience(owner: string | null | undefined): Pick<EventDraft, 'scope' | 'recipient_id'> {
  return owner ? { scope: 'user', recipient_id: owner } : {};
}

/** The event of a written diagram; it contains the hash of the drawing. */
export function diagramEvent(before: DiagramRow | null, after: DiagramRow | null): EventDraft {
  const { id, name } = (after ?? before)!;
  const owner = before?.private_to ?? after?.private_to;
  return { ...rowEvent('diagram', before, after, { id, name }), ...audience(owner) };
}

/**
 * The event of a card that was linked to a diagram or unlinked, in the history of the card.
 * @param owner the owner of a diagram that is not public.
 */
export function linkEvent(
  card: { id: string; type: string },
  row: DiagramCardRow,
  unlinked: boolean,
  owner: string | null,
): EventDraft {
  return {
    event_type: unlinked ? 'diagram.unlinked' : 'diagram.linked',
    ...audience(owner),
    card_id: card.id,
    card_type: card.type,
    data: {
      id: row.id,
      diagram_id: row.diagram_id,
      changes: unlinked ? rowChanges(row, null) : rowChanges(null, row),
    },
  };
}

/** The event of a written group. */
export function groupEvent(before: DiagramGroupRow | null, after: DiagramGroupRow | null): EventDraft {
  const { id, name } = (after ?? before)!;
  return rowEvent('diagram_group', before, after, { id, name });
}

/** The event of a favourite that was added or removed; only its user receives it. */
export function favoriteEvent(
  before: DiagramFavoriteRow | null,
  after: DiagramFavoriteRow | null,
): EventDraft {
  const { id, user_id } = (after ?? before)!;
  return { ...rowEvent('diagram_favorite', before, after, { id }), recipient_id: user_id };
}

/** Who sees a diagram, over the alias `d`. */
export const VISIBILITY = `case when d.private_to is null then 'public' when d.shared_with = '[]' then 'private' else 'shared' end`;

/** The visible diagrams, over the alias `d`: public ones, own ones, and those shared with the caller. */
export function visibleDiagrams(ctx: Ctx): Condition {
  const shared = sharedWithCaller(ctx, 'd.shared_with');
  const sql = `(d.private_to is null or d.private_to = ?::uuid or ${shared.sql})`;
  return { sql, bindings: [ctx.caller.userId, ...shared.bindings], visibility: true };
}

/** The users with whom a diagram is shared, over the alias `d`, by name; only its owner sees all of them. */
export const sharesOf = (ctx: Ctx): Fragment => visibleShares(ctx, 'd.shared_with', 'd.private_to');

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
const mayEdit = (
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
    throw invalidField('shared_with', 'required', 'must name at least one user');
  }
  const after = {
    private_to: wanted === 'public' ? null : owner,
    shared_with: wanted === 'shared' ? shares : [],
  };
  if (before && Object.keys(differingMembers(current, after)).length > 0) {
    requireOwner(ctx, before, 'change who sees a diagram');
  }
  return after;
}

/**
 * A diagram that the caller sees and may change, locked.
 * @throws EstateError `not_found`, `forbidden` for one that is shared for reading only.
 */
export async function lockDiagram(sql: Transaction, ctx: Ctx, id: string): Promise<DiagramRow> {
  const row = await lockRow(sql, Diagram, { id: id.toLowerCase() });
  if (!row) throw notFound('diagram', id);
  if (mayEdit(ctx, row)) return row;
  if (!row.shared_with.some(({ user_id }) => user_id === ctx.caller.userId)) throw notFound('diagram', id);
  throw new EstateError('forbidden', 'The diagram is shared for reading only.', {
    extra: { permission: 'diagrams.manage' },
  });
}
