import { type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { sqlState } from '../../../platform/database.ts';
import { type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import { type EntityShape, type TagOrder, writeEntities } from '../../kernel/formats/odata.entities.ts';
import type { EntitySet } from './model/model.types.ts';
import { invalidQuery } from './odata.errors.ts';
import type { Wire } from './odata.wire.ts';
import type { NestedOptions } from './query/query.types.ts';
import { entityRow, listOf, nestingOf, referenceRow } from './sql/sql.entity.ts';
import { ROOT, type StatementContext } from './sql/sql.navigation.ts';

/** The select list of a context URL (OData protocol, 10.7 to 10.11). */
function selectList(options: Pick<NestedOptions, 'select' | 'expand'>): string {
  const parts = [
    ...(options.select ?? []),
    ...options.expand.map(({ name, references, options: inner }) =>
      references ? `${name}/$ref` : `${name}(${selectList(inner).slice(1, -1)})`,
    ),
  ];
  return parts.length === 0 ? '' : `(${parts.join(',')})`;
}

/** The `@odata.context` member; none if the client wants no metadata. */
export function contextOf(
  wire: Wire,
  what: string,
  options?: Pick<NestedOptions, 'select' | 'expand'>,
  suffix = '',
): string[] {
  if (wire.metadata === 'none') return [];
  const address = `${wire.root}/$metadata#${what}${options ? selectList(options) : ''}${suffix}`;
  return [`"@odata.context":${JSON.stringify(address)}`];
}

/**
 * Runs one statement. SQLSTATE class 22 (data exception, such as a number out of range) and class 54 (limit exceeded) are
 * reported as invalid queries.
 * @throws EstateError `odata_invalid_query`.
 */
export async function runStatement<Row>(ctx: Ctx, { sql, bindings }: Fragment): Promise<Row[]> {
  const { rows } = await running(() => ctx.db.raw(sql, bindings));
  return rows;
}

/** Runs `work` on one snapshot. @throws EstateError as {@link runStatement}. */
export async function inSnapshot<T>(ctx: Ctx, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  return await running(() => withSnapshot(ctx.db, work));
}

async function running<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const state = sqlState(error) ?? '';
    if (state.startsWith('22')) throw invalidQuery('$filter', 'a value in it cannot be computed');
    if (state.startsWith('54')) throw invalidQuery('$filter', 'it is too complex');
    throw error;
  }
}

/** How entities are read by id. */
interface PreparedItems {
  shape: EntityShape;
  /** Whether collections are expanded, so that entities differ in size by orders of magnitude. */
  hasCollections: boolean;
  /** The statement that reads the values of entities in the order of the given ids. */
  buildQuery(ids: string[]): Fragment;
}

/**
 * Prepares to read entities of a set by id. The database sends values and we write the JSON, which is faster.
 * @throws EstateError `odata_invalid_query`, `odata_not_implemented`, `forbidden`.
 */
export function prepareItems(
  statement: StatementContext,
  {
    set,
    options,
    wire,
    references,
  }: { set: EntitySet; options: NestedOptions; wire: Wire; references?: boolean },
): PreparedItems {
  const { shape, columns, joins } = references
    ? referenceRow(set, ROOT, wire)
    : entityRow(statement, set, ROOT, options, wire);
  const table = raw(set.table);
  return {
    shape,
    hasCollections: nestingOf(statement, set, options.expand).collections > 0,
    buildQuery: (ids) => {
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

/** Bytes of JSON after which a page with expanded collections ends. */
const PAGE_BYTES = 16 * 1024 * 1024;
/** Entities with expanded collections in the first statement, and approximate bytes of each further one. */
const FIRST_BATCH = 8;
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Reads the JSON of the first of these entities as comma-separated chunks. Without expanded collections it reads all of
 * them; otherwise the page ends after {@link PAGE_BYTES}.
 * @returns the chunks and the number of their entities, at least one. @throws the signal's reason.
 */
export async function readPageItems(
  snapshot: Snapshot,
  items: PreparedItems,
  ids: string[],
  signal?: AbortSignal,
): Promise<{ chunks: Buffer[]; count: number }> {
  if (!items.hasCollections) return { chunks: await readItems(snapshot, items, ids), count: ids.length };
  const order = await readTagOrder(snapshot, items.shape);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let count = 0;
  for (let batch = FIRST_BATCH; count < ids.length && bytes < PAGE_BYTES; ) {
    signal?.throwIfAborted();
    const some = ids.slice(count, count + batch);
    const read = await readOrdered(snapshot, items, some, order);
    if (chunks.length > 0) chunks.push(Buffer.from(','));
    chunks.push(...read);
    count += some.length;
    bytes += read.reduce((sum, { length }) => sum + length, 0);
    batch = Math.max(1, Math.floor((BATCH_BYTES * count) / bytes));
  }
  return { chunks, count };
}

/** The order of all tags, if entities of a shape show tags: to sort them for each entity takes several times as long. */
async function readTagOrder(snapshot: Snapshot, shape: EntityShape): Promise<TagOrder> {
  if (!showsTags(shape)) return new Map();
  const rows = await snapshot.query<{ name: string }>(
    `select g.name || '/' || t.name as name from tags t join tag_groups g on g.id = t.tag_group_id
     order by lower(g.name), lower(t.name), t.id`,
  );
  return new Map(rows.map(({ name }, at) => [name, at]));
}

const showsTags = ({ members }: EntityShape): boolean =>
  members.some(({ source }) => source.kind === 'tags' || ('shape' in source && showsTags(source.shape)));

/** Entities per additional connection. */
const PART = 250;

/** Reads the JSON of entities as comma-separated chunks; over several connections of the snapshot if there are many. */
export async function readItems(snapshot: Snapshot, items: PreparedItems, ids: string[]): Promise<Buffer[]> {
  if (ids.length === 0) return [];
  return await readOrdered(snapshot, items, ids, await readTagOrder(snapshot, items.shape));
}

async function readOrdered(
  snapshot: Snapshot,
  { shape, buildQuery }: PreparedItems,
  ids: string[],
  order: TagOrder,
): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  const parts = snapshot.parts('rows', Math.ceil(ids.length / PART), (connections) => {
    const each = Math.ceil(ids.length / connections);
    return Array.from({ length: connections }, (_, n) => buildQuery(ids.slice(n * each, (n + 1) * each)));
  });
  for await (const { bytes } of parts) {
    chunks.push(Buffer.from(`${chunks.length > 0 ? ',' : ''}${writeEntities(bytes, shape, order)}`));
  }
  return chunks;
}
