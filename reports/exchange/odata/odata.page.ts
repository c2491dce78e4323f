import { spellingsOfText } from '../../../domain/inventory/cards/cards.spellings.ts';
import { combine, type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { notFound } from '../../../platform/errors.ts';
import type { EntitySet, Navigation, ODataModel } from './model/model.types.ts';
import { notSupported } from './odata.errors.ts';
import { contextOf, inSnapshot, prepareItems, readPageItems, runStatement } from './odata.items.ts';
import { type SkipToken, writeDeltaToken, writeSkipToken } from './odata.tokens.ts';
import type { Wire } from './odata.wire.ts';
import { type Expr, type NestedOptions, partsOf, type Search } from './query/query.types.ts';
import { afterRow, listOf, orderKeys, orderList } from './sql/sql.entity.ts';
import { conditionOf } from './sql/sql.expressions.ts';
import {
  createStatement,
  navigationSource,
  ROOT,
  type Source,
  type StatementContext,
  setSource,
} from './sql/sql.navigation.ts';

/** Entities per page by default and at most. */
export const DEFAULT_PAGE_SIZE = 1_000;
export const MAX_PAGE_SIZE = 5_000;

/** The source entity and the navigation of a path such as `Application(<id>)/successors`. */
export interface NavigationOrigin {
  set: EntitySet;
  key: string;
  navigation: Navigation;
}

/** A query for one page of entities. */
export interface PageQuery {
  model: ODataModel;
  set: EntitySet;
  via?: NavigationOrigin;
  options: NestedOptions;
  wire: Wire;
  pageSize: number;
  /** Whether only references are returned. */
  references?: boolean;
  /** Where this page begins; absent for the first page. */
  token?: SkipToken;
  /** Hash of the query, stored in its tokens. */
  bound: string;
  /** Whether to return a delta link. */
  track: boolean;
  /** Aborted when the client has disconnected. */
  signal?: AbortSignal;
  /** Returns the URL of this query with another token. */
  link(token: Record<'$skiptoken' | '$deltatoken', string> | Record<string, string>): string;
}

type Selecting = Pick<PageQuery, 'set' | 'via' | 'options'>;

const noParts: ReadonlySet<Expr> = new Set();

/**
 * Selects the entities of a query.
 * @param without conjuncts of the filter that are left out.
 */
export function selectEntities(
  statement: StatementContext,
  { set, via, options }: Selecting,
  without = noParts,
): Source {
  const { from, where } = setSource(statement, set);
  const parts = [where];
  if (via) parts.push(isRelated(statement, via));
  for (const part of options.filter ? conjunctsOf(options.filter) : []) {
    if (!without.has(part)) parts.push(filterPart(statement, set, part));
  }
  if (options.search) parts.push(searchCondition(options.search, set, ROOT));
  return { from, where: combine('and', parts) };
}

/** Splits a filter into its conjuncts. */
function conjunctsOf(expr: Expr): Expr[] {
  if (expr.kind !== 'binary' || expr.operator !== 'and') return [expr];
  return [...conjunctsOf(expr.left), ...conjunctsOf(expr.right)];
}

/** Whether an expression reads members of JSON columns of the entity, and no related entities. */
function readsJson(expr: Expr, set: EntitySet): boolean {
  const parts = [...partsOf(expr)];
  if (parts.some(({ kind }) => kind === 'lambda' || kind === 'count')) return false;
  const paths = parts.filter((part) => part.kind === 'path');
  const read = paths.map(({ steps }) =>
    steps.length === 1 ? set.properties.get(steps[0]!.name) : undefined,
  );
  return read.every(Boolean) && read.some((property) => property!.inside);
}

const filterPart = (statement: StatementContext, set: EntitySet, part: Expr): Fragment =>
  conditionOf(part, { statement, option: '$filter', set, alias: ROOT });

/**
 * Candidates of a page in the order of their ids, for filters over JSON members; undefined for other queries. Without
 * statistics PostgreSQL estimates few matches, reads all cards of the type and sorts them. `offset 0` makes it read cards
 * in id order and stop when the page is full.
 */
function orderedCandidates(
  statement: StatementContext,
  query: PageQuery,
  place: Fragment,
): Fragment | undefined {
  const { set, via, options } = query;
  if (set.kind !== 'card' || via || options.search || options.orderby.length > 0 || !options.filter) return;
  const inside = conjunctsOf(options.filter).filter((part) => readsJson(part, set));
  if (inside.length === 0) return;
  const { from, where } = selectEntities(statement, query, new Set(inside));
  const parts = inside.map((part) => filterPart(statement, set, part));
  const conditions = combine('and', parts);
  return sql`(select c.* from ${from} where ${where}${place} order by c.id offset 0) c where ${conditions}`;
}

/** The condition that an entity is related to the source entity by the navigation. */
function isRelated(statement: StatementContext, { set, key, navigation }: NavigationOrigin): Fragment {
  const own = statement.alias();
  const to = statement.alias();
  const source = navigationSource(statement, navigation.path, own, to);
  return sql`c.id in (select ${raw(to)}.id from ${raw(`${set.table} ${own}`)} cross join ${source.from}
    where ${raw(own)}.id = ${key}::uuid and ${source.where})`;
}

/** The condition that the entity exists and the caller sees it. */
export function isVisibleEntity(statement: StatementContext, set: EntitySet, key: string): Fragment {
  const { from, where } = setSource(statement, set);
  return sql`exists (select from ${from} where ${where} and c.id = ${key}::uuid)`;
}

/** The feed position up to which the statement sees every change. */
const POSITION = `(select greatest(coalesce((select max(position) from events), 0),
  coalesce((select (value #>> '{}')::bigint from settings where key = 'events.purged_through'), 0)))`;

/** The row that the page statement returns. */
interface PageRow {
  total: number | null;
  position: number | null;
  there: boolean | null;
  /** Number of entities found, at most one more than the page size. */
  found: number;
  /** Comma-separated ids of the page, in order; null for none. */
  ids: string | null;
  /** Values of the order keys of each entity of the page; null if the order has none. */
  keys: ((string | null)[] | null)[] | null;
}

/**
 * Reads one page of entities as chunks of the response body: first the ids, then the entities in the same snapshot.
 * @throws EstateError `odata_invalid_query`, `odata_not_implemented`, `forbidden`, `not_found`.
 */
export async function readPage(ctx: Ctx, query: PageQuery): Promise<Buffer[]> {
  const left = query.token ? query.token.left : (query.options.top ?? null);
  const size = Math.min(query.pageSize, left ?? query.pageSize);
  const statement = createStatement(ctx, query.model);
  const select = pageStatement(statement, query, size);
  const items = prepareItems(statement, query);
  return await inSnapshot(ctx, async (snapshot) => {
    const [page] = await snapshot.query<PageRow>(select.sql, select.bindings);
    if (page!.there === false) throw notFound(query.via!.set.name, query.via!.key);
    const ids = page!.ids?.split(',') ?? [];
    const { chunks, count } = await readPageItems(snapshot, items, ids, query.signal);
    return buildResponse(query, { page: page!, ids: ids.slice(0, count), left }, chunks);
  });
}

/** Adds the response members around a page's entities. */
function buildResponse(
  query: PageQuery,
  { page, ids, left }: { page: PageRow; ids: string[]; left: number | null },
  chunks: Buffer[],
): Buffer[] {
  const { set, options, token, wire } = query;
  const { found, keys } = page;
  const last = ids.at(-1);
  const remaining = left === null ? null : left - ids.length;
  const more = found > ids.length && remaining !== 0;
  const position = token ? token.position : page.position;
  const links: string[] = [];
  if (more && last !== undefined) {
    const next = writeSkipToken({
      bound: query.bound,
      keys: keys?.[ids.length - 1] ?? [],
      id: last,
      left: remaining,
      position,
      since: null,
    });
    links.push(`"@odata.nextLink":${JSON.stringify(query.link({ $skiptoken: next }))}`);
  } else if (query.track && position !== null) {
    const delta = writeDeltaToken({ bound: query.bound, position, shape: set.shape });
    links.push(`"@odata.deltaLink":${JSON.stringify(query.link({ $deltatoken: delta }))}`);
  }
  const members = [
    ...contextOf(
      wire,
      query.references ? 'Collection($ref)' : set.name,
      query.references ? undefined : options,
    ),
    ...(options.count && !token
      ? [`"@odata.count":${wire.exactNumbers ? `"${page.total}"` : page.total}`]
      : []),
    '"value":[',
  ];
  return [Buffer.from(`{${members.join(',')}`), ...chunks, Buffer.from(`${[']', ...links].join(',')}}`)];
}

/** The statement that finds the ids of a page, the total and the feed position. */
function pageStatement(statement: StatementContext, query: PageQuery, size: number): Fragment {
  const { set, via, options, token, track } = query;
  const source = selectEntities(statement, query);
  const keys = orderKeys(options.orderby, { statement, option: '$orderby', set, alias: ROOT });
  const order = orderList(keys, ROOT);
  const place = token ? sql` and ${afterRow(keys, token.keys, token.id, ROOT)}` : raw('');
  const candidates =
    orderedCandidates(statement, query, place) ?? sql`${source.from} where ${source.where}${place}`;
  const values =
    keys.length === 0
      ? raw('null::text[]')
      : sql`array[${listOf(keys.map((key) => sql`(${key.sql})::text`))}]`;
  const total =
    options.count && !token
      ? sql`(select count(*) from ${source.from} where ${source.where})`
      : raw('null::bigint');
  const position = track && !token ? raw(POSITION) : raw('null::bigint');
  const there = via ? isVisibleEntity(statement, via.set, via.key) : raw('null::boolean');
  return sql`with page as materialized (
      select found.id, found.keys, row_number() over () as n
      from (select c.id, ${values} as keys from ${candidates}
            order by ${order} limit ${size === 0 ? 0 : size + 1} offset ${token ? 0 : options.skip}) found)
    select ${total} as total, ${position} as position, ${there} as there, (select count(*) from page) as found,
      (select string_agg(id::text, ',' order by n) from page where n <= ${size}::int) as ids,
      (select json_agg(keys order by n) from page where n <= ${size}::int) as keys`;
}

/** Counts the entities that the query selects. */
export async function countEntities(
  ctx: Ctx,
  query: Pick<PageQuery, 'model' | 'set' | 'via' | 'options'>,
): Promise<number> {
  const statement = createStatement(ctx, query.model);
  const { from, where } = selectEntities(statement, query);
  const there = query.via ? isVisibleEntity(statement, query.via.set, query.via.key) : raw('true');
  const [row] = await runStatement<{ total: number; there: boolean }>(
    ctx,
    sql`select (select count(*) from ${from} where ${where}) as total, ${there} as there`,
  );
  if (!row!.there) throw notFound(query.via!.set.name, query.via!.key);
  return row!.total;
}

/** A word of at least this length also finds words that begin with it. */
const SHORTEST_PREFIX = 3;

/** The condition that name, alias, external id or description of a card contain the words. */
function searchCondition(search: Search, set: EntitySet, alias: string): Fragment {
  if (set.kind !== 'card') throw notSupported('$search', 'only cards can be searched');
  const words = raw(
    `search_words(${['name_key', 'alias', 'external_id', 'description'].map((name) => `${alias}.${name}`)})`,
  );
  return sql`${words} @@ ${query(search)}`;
}

function query(search: Search): Fragment {
  switch (search.kind) {
    case 'and':
      return sql`(${query(search.left)} && ${query(search.right)})`;
    case 'or':
      return sql`(${query(search.left)} || ${query(search.right)})`;
    case 'not':
      return sql`(!! ${query(search.operand)})`;
    case 'words': {
      const last = search.words.at(-1)!;
      const isPrefix = !search.phrase && last.length >= SHORTEST_PREFIX;
      const spellings = spellingsOfText(search.words.join(' ')).map((text) => {
        const phrase = sql`phraseto_tsquery('pg_catalog.simple', fold(${text}::text))`;
        return isPrefix ? sql`(nullif(${phrase}::text, '') || ':*')::tsquery` : phrase;
      });
      return sql`(${spellings.reduce((all, one) => sql`${all} || ${one}`)})`;
    }
  }
}
