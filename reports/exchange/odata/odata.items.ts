import { type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import { type EntityShape, readEntities } from '../../kernel/formats/odata.entities.ts';
import type { EntitySet } from './model/model.types.ts';
import type { Wire } from './odata.wire.ts';
import type { NestedOptions } from './query/query.types.ts';
import { entityRow, listOf, referenceRow } from './sql/sql.entity.ts';
import { ROOT, type Writing } from './sql/sql.ways.ts';

/** How entities of known ids are read. */
export interface Items {
  shape: EntityShape;
  /** The statement of the values of entities, in the order of their ids as they are given. */
  statement(ids: string[]): Fragment;
}

/**
 * Prepares the reading of entities of a set. The database sends only their values, since it takes longer to write JSON.
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
    shape,
    statement: (ids) => {
      // ordered before the joins, so that whole entities are not sorted
      const shown = sql`(select id, n from unnest(${ids}::uuid[]) with ordinality as given (id, n) order by n offset 0) page`;
      const rows = joins.reduce(
        (all, join) => sql`${all} ${join}`,
        sql`${shown} join ${table} ${raw(ROOT)} on ${raw(ROOT)}.id = page.id`,
      );
      return sql`select ${listOf(columns)} from ${rows} order by page.n`;
    },
  };
}

/** Entities for which another connection is worth it. */
const PART = 250;

/** The JSON of entities in chunks with commas between them; read in parallel on one snapshot when there are many. */
export async function readItems(
  snapshot: Snapshot,
  { shape, statement }: Items,
  ids: string[],
): Promise<Buffer[]> {
  if (ids.length === 0) return [];
  const chunks: Buffer[] = [];
  const parts = snapshot.parts('rows', Math.ceil(ids.length / PART), (connections) => {
    const each = Math.ceil(ids.length / connections);
    return Array.from({ length: connections }, (_, n) => statement(ids.slice(n * each, (n + 1) * each)));
  });
  for await (const { bytes } of parts) {
    const items = readEntities(bytes, shape).map((entity) => JSON.stringify(entity));
    chunks.push(Buffer.from(`${chunks.length > 0 ? ',' : ''}${items.join(',')}`));
  }
  return chunks;
}
