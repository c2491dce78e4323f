import type { StandingParent } from '../cards.tree.ts';
import type { TakenKeys } from '../cards.unique.ts';
import type { ApprovalStatus, CardInput } from '../rules/card.types.ts';

/** A card that is to be created, and where. */
export interface BulkCreateRow extends CardInput {
  row_index: number;
  type: string;
  name: string;
  /** Names from the root down to the parent, or, where `parent_name` is given, to the parent's parent. */
  parent_path?: string[] | null;
  parent_name?: string | null;
  approval_status?: ApprovalStatus | null;
}

/** The names of a row's parents from the root on, its parent last. */
export function pathOf({ parent_path, parent_name }: BulkCreateRow): string[] {
  return [...(parent_path ?? []), ...(parent_name ? [parent_name] : [])];
}

/** What the inventory says about the rows that are to be created, read in a fixed number of statements. */
export interface Surroundings {
  /** A text in lower case, as the database has it. */
  lower(text: string): string;
  /** The stored card at a path of names from a root. */
  byPath(type: string, steps: string[]): string | undefined;
  /** The stored cards of a name; two stand for several. */
  named(type: string, name: string): string[];
  /** Stored parents that the caller sees, by id. */
  standing: ReadonlyMap<string, StandingParent>;
  /** The stored cards that stand in a row's way, by the row's place. */
  taken: ReadonlyMap<number, TakenKeys>;
}
