import type { Ctx } from '../../kernel/context.ts';
import type { TagCatalogue } from '../imports/imports.people.ts';
import type { MappedBlock } from './mapping.ts';
import type { SourceType } from './source.types.ts';

/** What making records goes along with; kept from batch to batch. */
export interface Staging {
  ctx: Ctx;
  migrationId: string;
  includeArchived: boolean;
  mapped: ReadonlyMap<string, MappedBlock>;
  catalogue: TagCatalogue;
  source: SourceType;
  /** The card type that a native one stands for. */
  typeOf(native: string): string | undefined;
  /**
   * The lines of cards by their ids with what they say, of blocks that tell values of relations: those have a row for each
   * relation.
   */
  firstRows: Map<string, { line: number; says: string }>;
  /** The line of the next record that is no card's. */
  nextLine: number;
  /** What was told of already: addresses, groups and tags, folded. */
  told: Set<string>;
  /** The same in the transaction that is under way, which may have to be begun again. */
  telling: Set<string>;
}
