import Type from 'typebox';
import type { CardForPolicy } from '../../kernel/permissions/policy.ts';
import { Internal, type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';

export class Relation extends rowModel('relations', {
  id: Uuid,
  type: Type.String(),
  source_id: Uuid,
  target_id: Uuid,
  attributes: Type.Record(Type.String(), Type.Unknown(), {
    description: 'By attribute key of the relation type; cost attributes are left out without `costs.view`',
  }),
  description: Nullable(Type.String()),
  created_by: Internal(Nullable(Uuid)),
  created_at: Timestamp,
  updated_at: Internal(Timestamp),
}) {}
type RelationColumns = RowOf<typeof Relation>;

/** A card as an end of a relation. */
export interface RelationEnd extends CardForPolicy {
  name: string;
  status: 'ACTIVE' | 'ARCHIVED';
}

/** The columns of a stored relation. */
export interface StoredRelation extends Omit<RelationColumns, 'created_by' | 'created_at' | 'updated_at'> {
  /** Sums of its costs, by the key of the attribute that shows them. */
  sums?: Readonly<Record<string, number | null>>;
}

/** The members that a client or an import row sets: an absent member is not changed, `null` clears it. */
export interface RelationInput {
  attributes?: Record<string, unknown> | null;
  description?: string | null;
}
