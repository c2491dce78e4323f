import type { CardForPolicy } from '../../kernel/permissions/policy.ts';
import type { RelationColumns } from './relations.model.ts';

/** A card as an end of a relation. */
export interface RelationEnd extends CardForPolicy {
  name: string;
  status: 'ACTIVE' | 'ARCHIVED';
}

/** The columns of a stored relation. */
export type StoredRelation = Omit<RelationColumns, 'created_by' | 'created_at' | 'updated_at'>;

/** The members that a client or an import row sets: an absent member is not changed, `null` clears it. */
export interface RelationInput {
  attributes?: Record<string, unknown> | null;
  description?: string | null;
}
