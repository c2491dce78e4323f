import type { CardForPolicy } from '../../kernel/permissions/policy.ts';

/** A card as an end of a relation. */
export interface RelationEnd extends CardForPolicy {
  name: string;
  status: 'ACTIVE' | 'ARCHIVED';
}

/** A relation as its row holds it. */
export interface StoredRelation {
  id: string;
  type: string;
  source_id: string;
  target_id: string;
  attributes: Record<string, unknown>;
  description: string | null;
}

/** What a client or an import row sets: an absent member leaves the value, `null` clears it. */
export interface RelationInput {
  attributes?: Record<string, unknown> | null;
  description?: string | null;
}
