import Type from 'typebox';
import type { UserShare } from '../../access/shares.ts';
import { MAX_DESCRIPTION } from '../../inventory/cards/rules/text.ts';
import { type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
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
  drawing: Type.String(),
  thumbnail: Nullable(Type.String()),
  settings: Type.Record(Type.String(), Type.Unknown()),
  group_ids: SqlArray(Uuid),
  created_by: Nullable(Uuid),
  /** The creator of a diagram that is not public. */
  private_to: Nullable(Uuid),
  /** Empty for public diagrams. */
  shared_with: Type.Array(Type.Object({ user_id: Uuid, can_edit: Type.Boolean() })),
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
