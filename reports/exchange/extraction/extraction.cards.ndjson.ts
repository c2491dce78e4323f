import type { Ctx } from '../../../domain/kernel/context.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { cardJoins } from './extraction.cards.joins.ts';
import { type CardSelection, cardSource } from './extraction.cards.source.ts';
import { type JsonMember, jsonKey, jsonTable, membersOf } from './extraction.ndjson.ts';
import type { LineTable } from './extraction.rows.ts';

const members: Record<string, JsonMember> = {
  ...membersOf('id', { id: 'c.id', parent_id: 'c.parent_id' }),
  ...membersOf('text', {
    type: 'c.type',
    subtype: 'c.subtype',
    external_id: 'c.external_id',
    name: 'c.name',
    alias: 'c.alias',
    description: 'c.description',
    parent_external_id: 'p.external_id',
    parent_name: 'p.name',
    parent_path: 'pp.cell',
    status: 'c.status',
    approval_status: 'c.approval_status',
  }),
  ...membersOf('number', { data_quality: 'c.data_quality' }),
  ...membersOf('time', { created_at: 'c.created_at', updated_at: 'c.updated_at' }),
  ...membersOf('json', {
    tags: 't.cell',
    stakeholders: 's.cell',
    ...Object.fromEntries(
      lifecyclePhases.map((phase) => [`lifecycle.${phase}`, jsonKey(`(c.lifecycle ->> '${phase}')`)]),
    ),
  }),
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
