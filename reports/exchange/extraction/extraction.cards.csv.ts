import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { cardJoins } from './extraction.cards.joins.ts';
import { type CardSelection, cardSource } from './extraction.cards.source.ts';
import { type CsvMember, csvMembers, csvTable, escapedText } from './extraction.csv.ts';
import type { LineTable } from './extraction.rows.ts';

/** Cells that hold no text which could be calculated. */
const plain: Record<string, string> = {
  type: 'c.type',
  subtype: 'c.subtype',
  status: 'c.status',
  approval_status: 'c.approval_status',
  // each begins with a role's key
  stakeholders: 's.cell',
  'lifecycle.plan': "c.lifecycle ->> 'plan'",
  'lifecycle.phaseIn': "c.lifecycle ->> 'phaseIn'",
  'lifecycle.active': "c.lifecycle ->> 'active'",
  'lifecycle.phaseOut': "c.lifecycle ->> 'phaseOut'",
  'lifecycle.endOfLife': "c.lifecycle ->> 'endOfLife'",
};

const texts: Record<string, string> = {
  external_id: 'c.external_id',
  name: 'c.name',
  alias: 'c.alias',
  description: 'c.description',
  parent_external_id: 'p.external_id',
  parent_name: 'p.name',
  parent_path: 'pp.cell',
  tags: 't.cell',
};

const members: Record<string, CsvMember> = {
  ...csvMembers('id', { id: 'c.id', parent_id: 'c.parent_id' }),
  ...csvMembers('plain', plain),
  ...csvMembers('text', texts),
  ...csvMembers('number', { data_quality: 'c.data_quality' }),
  ...csvMembers('time', { created_at: 'c.created_at', updated_at: 'c.updated_at' }),
};

/** Several values in one cell. */
const joined = {
  each: (text: string) => escapedText(text, '\\\\;'),
  all: "string_agg(k.text, ';' order by k.place)",
};

/** The cards of a selection as lines of CSV, from the snapshot, oldest first. */
export async function cardCsv(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: CardSelection,
  columns: Column[],
  guard: boolean,
): Promise<LineTable> {
  const cells = { members, joins: cardJoins(selection, columns, joined) };
  return await csvTable(snapshot, cardSource(ctx, selection), cells, columns, guard);
}
