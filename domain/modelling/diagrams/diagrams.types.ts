import type { UserShare } from '../../access/shares.ts';

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
