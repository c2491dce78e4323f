import type { Ctx } from '../../domain/context.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { cardJoins } from './extraction.cards.joins.ts';
import { type CardSelection, cardSource } from './extraction.cards.source.ts';
import { jsonKey, jsonTable, jsonText } from './extraction.ndjson.ts';
import type { LineTable } from './extraction.rows.ts';
import { jsonTimestamp } from './extraction.sql.ts';
import type { Column } from './extraction.types.ts';

const members: Record<string, string> = {
  id: jsonKey('c.id'),
  type: jsonKey('c.type'),
  subtype: jsonText('c.subtype'),
  external_id: jsonText('c.external_id'),
  name: jsonText('c.name'),
  alias: jsonText('c.alias'),
  description: jsonText('c.description'),
  parent_id: jsonKey('c.parent_id'),
  parent_external_id: jsonText('p.external_id'),
  parent_name: jsonText('p.name'),
  parent_path: jsonText('pp.cell'),
  status: jsonKey('c.status'),
  approval_status: jsonKey('c.approval_status'),
  data_quality: 'c.data_quality::float8::text',
  created_at: jsonTimestamp('c.created_at'),
  updated_at: jsonTimestamp('c.updated_at'),
  tags: 't.cell',
  stakeholders: 's.cell',
  'lifecycle.plan': jsonKey("(c.lifecycle ->> 'plan')"),
  'lifecycle.phaseIn': jsonKey("(c.lifecycle ->> 'phaseIn')"),
  'lifecycle.active': jsonKey("(c.lifecycle ->> 'active')"),
  'lifecycle.phaseOut': jsonKey("(c.lifecycle ->> 'phaseOut')"),
  'lifecycle.endOfLife': jsonKey("(c.lifecycle ->> 'endOfLife')"),
};

/** Several values as an array. */
export const listed = {
  each: (text: string) => text,
  all: "'[' || string_agg(to_json(k.text)::text, ',' order by k.place) || ']'",
};

/** The cards of a selection as lines of JSON, from the snapshot, oldest first. */
export async function cardNdjson(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: CardSelection,
  columns: Column[],
  whole: boolean,
): Promise<LineTable> {
  const cells = { members, joins: cardJoins(selection, columns, listed) };
  return await jsonTable(snapshot, cardSource(ctx, selection), cells, columns, whole);
}
