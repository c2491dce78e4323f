import type { StoredRow } from '../events/row-changes.ts';

/** A row of `diagrams` as JSON. */
export interface DiagramRow extends StoredRow {
  id: string;
  name: string;
  description: string | null;
  /** The fingerprint of what is drawn. */
  drawing: string;
  thumbnail: string | null;
  settings: Record<string, unknown>;
  group_ids: string[];
  created_by: string | null;
  private_to: string | null;
}

/** A row of `diagram_cards` as JSON. */
export interface LinkRow extends StoredRow {
  id: string;
  diagram_id: string;
  card_id: string;
  user_id: string | null;
}

/** Who sees a diagram: everybody with `diagrams.view`, or its maker alone. */
export type DiagramVisibility = 'public' | 'private';

export interface DiagramInput {
  name?: string;
  description?: string | null;
  /** `xml`, `thumbnail`, and what else the client keeps; merged key by key, null clears. */
  data?: Record<string, unknown> | null;
  /** Replaces the links. */
  card_ids?: string[] | null;
  visibility?: DiagramVisibility;
}
