import type { CardForPolicy } from '../../kernel/permissions/policy.ts';
import type { RelationColumns } from './relations.model.ts';

/** A card as an end of a relation. */
export interface RelationEnd extends CardForPolicy {
  name: string;
  status: 'ACTIVE' | 'ARCHIVED';
}

/** A relation as its row holds it. */
export type StoredRelation = Omit<RelationColumns, 'created_by' | 'created_at' | 'updated_at'>;

/** What a client or an import row sets: an absent member leaves the value, `null` clears it. */
export interface RelationInput {
  attributes?: Record<string, unknown> | null;
  description?: string | null;
}
