import type { UserShare } from '../../access/shares.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';

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
  /** Its maker, unless everybody sees it. */
  private_to: string | null;
  /** Who sees it besides the maker; nobody where everybody does. */
  shared_with: UserShare[];
}

/** A row of `diagram_cards` as JSON. */
export interface LinkRow extends StoredRow {
  id: string;
  diagram_id: string;
  card_id: string;
  user_id: string | null;
}

/** Who sees a diagram: everybody with `diagrams.view`, its maker alone, or the maker and those with whom it is shared. */
export type DiagramVisibility = 'public' | 'private' | 'shared';

export interface DiagramInput {
  name?: string;
  description?: string | null;
  /** `xml`, `thumbnail`, and what else the client keeps; merged key by key, null clears. */
  data?: Record<string, unknown> | null;
  /** Replaces the links. */
  card_ids?: string[] | null;
  visibility?: DiagramVisibility;
  shared_with?: UserShare[] | null;
}
