import Type from 'typebox';
import { Internal, type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, closed, DateOnly, Nullable, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';

export const cardStatuses = ['ACTIVE', 'ARCHIVED'] as const;
export const approvalStatuses = ['DRAFT', 'APPROVED', 'REJECTED', 'BROKEN'] as const;

const Phase = Type.Optional(DateOnly);
/** The dates of the phases; a phase without a date is absent. */
export const Lifecycle = Type.Object(
  { plan: Phase, phaseIn: Phase, active: Phase, phaseOut: Phase, endOfLife: Phase },
  closed,
);

export class Card extends rowModel('cards', {
  id: Uuid,
  number: Type.String({
    description: 'The prefix of the card type and a number; never changes and is never given to another card',
    examples: ['APP-00042'],
  }),
  type: Type.String(),
  subtype: Nullable(Type.String()),
  name: Type.String(),
  description: Nullable(Type.String()),
  parent_id: Nullable(Uuid),
  lifecycle: Nullable(Lifecycle),
  attributes: Type.Record(Type.String(), Type.Unknown(), {
    description: 'By field key of the card type; cost fields are left out without `costs.view`',
  }),
  status: Choice(cardStatuses),
  approval_status: Choice(approvalStatuses),
  data_quality: Type.Number({ minimum: 0, maximum: 100, description: 'Filled share in per cent' }),
  external_id: Nullable(Type.String()),
  alias: Nullable(Type.String()),
  archived_at: Nullable(Timestamp),
  // The id of the operation that archived it.
  archive_batch_id: Internal(Nullable(Uuid)),
  // Its external id, if its type allows several cards of one name; PostgreSQL sets it.
  sibling_key: Internal(Nullable(Type.String())),
  created_by: Nullable(Uuid),
  updated_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type CardColumns = Omit<RowOf<typeof Card>, 'sibling_key'>;

/** A merge of cards; an undo reads its events. */
export class CardMerge extends rowModel('card_merges', {
  id: Uuid,
  survivor_id: Uuid,
  card_type: Type.String(),
  merged: Type.Array(
    Type.Object(
      {
        id: Uuid,
        // Absent if the card had none yet.
        number: Type.Optional(Type.String()),
        name: Type.String(),
        external_id: Nullable(Type.String()),
      },
      closed,
    ),
  ),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  undone_by: Nullable(Uuid),
  undone_at: Nullable(Timestamp),
}) {}

/** The card into which a deleted card was merged; it may have been merged later itself. */
export class CardRedirect extends rowModel('card_redirects', {
  card_id: Uuid,
  survivor_id: Uuid,
  merge_id: Uuid,
  // Null for merges of cards that had no number yet.
  number: Nullable(Type.String()),
}) {}

const oldValue = { position: Type.Integer(), act: Choice(['c', 'u', 'd']) };

/** Old values of cards, which a trigger derives from events. */
export class CardOldValue extends rowModel('card_old_values', {
  ...oldValue,
  card_id: Uuid,
  card_type: Nullable(Type.String()),
  name: Nullable(Type.String()),
  status: Nullable(Choice(cardStatuses)),
  approval_status: Nullable(Choice(approvalStatuses)),
  data_quality: Nullable(Type.Number()),
  optional: Nullable(OpenObject),
}) {}

/** Old values of relations, which a trigger derives from events. */
export class RelationOldValue extends rowModel('relation_old_values', {
  ...oldValue,
  relation_id: Uuid,
  relation_type: Nullable(Type.String()),
  source_id: Nullable(Uuid),
  target_id: Nullable(Uuid),
}) {}
