import { type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { RowWriter } from '../../../platform/copy-out.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import { entityRows } from '../../kernel/formats/odata.rows.ts';
import type { EntitySet } from './model/model.types.ts';
import type { Wire } from './odata.wire.ts';
import type { NestedOptions } from './query/query.types.ts';
import { entityRow, listOf, referenceRow } from './sql/sql.entity.ts';
import { ROOT, type Writing } from './sql/sql.ways.ts';

/** What makes JSON of entities whose ids are known. */
export interface Items {
  writer: RowWriter;
  /** The statement of the values of entities, in the order of their ids as they are given. */
  statement(ids: string[]): Fragment;
}

/**
 * Gets ready to make JSON of entities of a set. The database sends their values alone: to write JSON takes it three times as
 * long as this process.
 * @throws EstateError `odata_invalid_query`, `odata_not_implemented`, `forbidden`.
 */
export function itemsOf(
  writing: Writing,
  {
    set,
    options,
    wire,
    references,
  }: { set: EntitySet; options: NestedOptions; wire: Wire; references?: boolean },
): Items {
  const { shape, columns, joins } = references
    ? referenceRow(set, ROOT, wire)
    : entityRow(writing, set, ROOT, options, wire);
  const table = raw(set.kind === 'card' ? 'cards' : 'relations');
  return {
    writer: entityRows(shape),
    statement: (ids) => {
      // in their order before they are looked up, so that none waits for the others to be sorted with all that it holds
      const shown = sql`(select id, n from unnest(${ids}::uuid[]) with ordinality as given (id, n) order by n offset 0) page`;
      const rows = joins.reduce(
        (all, join) => sql`${all} ${join}`,
        sql`${shown} join ${table} ${raw(ROOT)} on ${raw(ROOT)}.id = page.id`,
      );
      return sql`select ${listOf(columns)} from ${rows} order by page.n`;
    },
  };
}

/** So many entities are worth a connection of their own. */
const PART = 250;

/** The JSON of entities in chunks of bytes, with commas between them; side by side at the same moment where they are many. */
export async function readItems(
  snapshot: Snapshot,
  { writer, statement }: Items,
  ids: string[],
): Promise<Buffer[]> {
  if (ids.length === 0) return [];
  const chunks: Buffer[] = [];
  const parts = snapshot.parts(writer, Math.ceil(ids.length / PART), (connections) => {
    const each = Math.ceil(ids.length / connections);
    return Array.from({ length: connections }, (_, n) => statement(ids.slice(n * each, (n + 1) * each)));
  });
  for await (const { bytes } of parts) chunks.push(bytes);
  const last = chunks.pop();
  // but for the last comma
  return last ? [...chunks, last.subarray(0, -1)] : chunks;
}

/** The same as one text. */
export async function itemsText(snapshot: Snapshot, items: Items, ids: string[]): Promise<string> {
  return Buffer.concat(await readItems(snapshot, items, ids)).toString();
}
