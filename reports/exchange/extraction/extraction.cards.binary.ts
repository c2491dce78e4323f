import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { binaryRows } from './extraction.binary.ts';
import { cardJoins } from './extraction.cards.joins.ts';
import { listed } from './extraction.cards.ndjson.ts';
import { type CardSelection, cardSource } from './extraction.cards.source.ts';
import { cardMembers } from './extraction.cards.ts';
import type { LineTable } from './extraction.rows.ts';

const members = { ...cardMembers, created_at: 'c.created_at', updated_at: 'c.updated_at' };

/** The cards of a selection as the database has them, from the snapshot, oldest first. */
export async function cardBinary(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: CardSelection,
  columns: Column[],
): Promise<LineTable> {
  const values = { members, joins: cardJoins(selection, columns, listed) };
  return await binaryRows(snapshot, cardSource(ctx, selection), values, columns);
}
