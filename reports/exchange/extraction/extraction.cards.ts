import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column, Table } from '../../kernel/formats/formats.types.ts';
import { cardJoins } from './extraction.cards.joins.ts';
import { type CardSelection, cardSource } from './extraction.cards.source.ts';
import { epochWriter } from './extraction.shape.ts';
import { rowTable } from './extraction.tables.ts';

const BATCH = 1_000;

/** SQL of the values of cards by header. */
export const cardMembers: Record<string, string> = {
  id: 'c.id',
  type: 'c.type',
  subtype: 'c.subtype',
  external_id: 'c.external_id',
  name: 'c.name',
  alias: 'c.alias',
  description: 'c.description',
  parent_id: 'c.parent_id',
  parent_external_id: 'p.external_id',
  parent_name: 'p.name',
  parent_path: 'pp.cell',
  status: 'c.status',
  approval_status: 'c.approval_status',
  data_quality: 'c.data_quality::float8',
  // as numbers, since writing them as text would cost the database a tenth of the whole
  created_at: "date_part('epoch', c.created_at)",
  updated_at: "date_part('epoch', c.updated_at)",
  tags: 't.cell',
  stakeholders: 's.cell',
  'lifecycle.plan': "c.lifecycle ->> 'plan'",
  'lifecycle.phaseIn': "c.lifecycle ->> 'phaseIn'",
  'lifecycle.active': "c.lifecycle ->> 'active'",
  'lifecycle.phaseOut': "c.lifecycle ->> 'phaseOut'",
  'lifecycle.endOfLife': "c.lifecycle ->> 'endOfLife'",
};

/** Several values as an array. */
const listed = { each: (text: string) => text, all: 'json_agg(k.text order by k.place)' };

/** The cards of a selection as a table, from the snapshot, oldest first. */
export async function cardTable(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: CardSelection,
  columns: Column[],
): Promise<Table> {
  const readers = { created_at: epochWriter(), updated_at: epochWriter() };
  const cells = { members: cardMembers, readers, joins: cardJoins(selection, columns, listed), batch: BATCH };
  return await rowTable(snapshot, cardSource(ctx, selection), cells, columns);
}
