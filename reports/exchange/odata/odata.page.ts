import { combine, type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { notFound } from '../../../platform/errors.ts';
import type { EntitySet, Navigation, ODataModel } from './model/model.types.ts';
import { contextOf } from './odata.context.ts';
import { itemsOf, readPageItems } from './odata.items.ts';
import { inSnapshot, runStatement } from './odata.run.ts';
import { type SkipToken, writeDeltaToken, writeSkipToken } from './odata.tokens.ts';
import type { Wire } from './odata.wire.ts';
import type { Expr, NestedOptions } from './query/query.types.ts';
import { listOf } from './sql/sql.entity.ts';
import { conditionOf } from './sql/sql.expressions.ts';
import { conjuncts, readsInside } from './sql/sql.inside.ts';
import { behind, orderKeys, orderList } from './sql/sql.order.ts';
import { searchCondition } from './sql/sql.search.ts';
import { along, createWriting, ROOT, type Source, sourceOf, type Writing } from './sql/sql.ways.ts';

/** Entities on a page unless the client prefers fewer or more, and at most. */
export const PAGE = 1_000;
export const LARGEST_PAGE = 5_000;

/** The entity and the way by which a set is reached. */
export interface Via {
  set: EntitySet;
  key: string;
  navigation: Navigation;
}

/** A question for a page of entities. */
export interface PageQuestion {
  model: ODataModel;
  set: EntitySet;
  via?: Via;
  options: NestedOptions;
  wire: Wire;
  pageSize: number;
  /** Only their references. */
  references?: boolean;
  /** Where the walk stands; absent for its first page. */
  token?: SkipToken;
  /** Names the query in tokens. */
  bound: string;
  /** Whether the client wants to hear of changes later on. */
  track: boolean;
  /** Aborted when nobody waits for the page any more. */
  signal?: AbortSignal;
  /** The address of this query with another token. */
  link(token: Record<'$skiptoken' | '$deltatoken', string> | Record<string, string>): string;
}

type Selecting = Pick<PageQuestion, 'set' | 'via' | 'options'>;

const everything: ReadonlySet<Expr> = new Set();

/**
 * The entities of the question, of one page or of all, with what its filter says.
 * @param without parts of the filter that are left out.
 */
export function selection(writing: Writing, { set, via, options }: Selecting, without = everything): Source {
  const { from, where } = sourceOf(writing, set);
  const parts = [where];
  if (via) parts.push(reached(writing, via));
  for (const part of options.filter ? conjuncts(options.filter) : []) {
    if (!without.has(part)) parts.push(filterPart(writing, set, part));
  }
  if (options.search) parts.push(searchCondition(options.search, set, ROOT));
  return { from, where: combine('and', parts) };
}

const filterPart = (writing: Writing, set: EntitySet, part: Expr): Fragment =>
  conditionOf(part, { writing, option: '$filter', set, alias: ROOT });

/**
 * The cards behind a place in the order of their ids, as far as the filter lets them through. Where it asks for what
 * stands inside JSON, PostgreSQL would expect it to leave few, look at all cards of the type, and sort; so they are looked
 * at one by one in their order, until the page is full.
 */
function inOrder(writing: Writing, question: PageQuestion, place: Fragment): Fragment | undefined {
  const { set, via, options } = question;
  if (set.kind !== 'card' || via || options.search || options.orderby.length > 0 || !options.filter) return;
  const inside = conjuncts(options.filter).filter((part) => readsInside(part, set));
  if (inside.length === 0) return;
  const { from, where } = selection(writing, question, new Set(inside));
  const conditions = combine(
    'and',
    inside.map((part) => filterPart(writing, set, part)),
  );
  return sql`(select c.* from ${from} where ${where}${place} order by c.id offset 0) c where ${conditions}`;
}

/** Whether an entity is reached from another by a way. */
function reached(writing: Writing, { set, key, navigation }: Via): Fragment {
  const own = writing.alias();
  const to = writing.alias();
  const source = along(writing, navigation.way, own, to);
  const table = raw(set.kind === 'card' ? 'cards' : 'relations');
  return sql`c.id in (select ${raw(to)}.id from ${table} ${raw(own)} cross join ${source.from}
    where ${raw(own)}.id = ${key}::uuid and ${source.where})`;
}

/** Whether the entity by which a set is reached is there for the caller. */
export function isThere(writing: Writing, set: EntitySet, key: string): Fragment {
  const { from, where } = sourceOf(writing, set);
  return sql`exists (select from ${from} where ${where} and c.id = ${key}::uuid)`;
}

/** The newest position that the statement sees everything up to. */
const POSITION = `(select greatest(coalesce((select max(position) from events), 0),
  coalesce((select (value #>> '{}')::bigint from settings where key = 'events.purged_through'), 0)))`;

/** What is told of a page besides its entities. */
interface PageFacts {
  total: number | null;
  position: number | null;
  there: boolean | null;
  /** How many entities were found, one more than the page holds at most. */
  found: number;
  /** Comma-separated, those of the page in its order; null for none. */
  ids: string | null;
  /** Values of the order's keys in each entity of the page, in its order; null where the order has none. */
  keys: ((string | null)[] | null)[] | null;
}

/**
 * One page of entities in pieces of the answer. Which they are is found first; then they are written side by side, at the
 * same moment of the database.
 * @throws EstateError `odata_invalid_query`, `odata_not_implemented`, `forbidden`, `not_found`.
 */
export async function readPage(ctx: Ctx, question: PageQuestion): Promise<Buffer[]> {
  const left = question.token ? question.token.left : (question.options.top ?? null);
  const size = Math.min(question.pageSize, left ?? question.pageSize);
  const writing = createWriting(ctx, question.model);
  const finding = foundStatement(writing, question, size);
  const items = itemsOf(writing, question);
  return await inSnapshot(ctx, async (snapshot) => {
    const [facts] = await snapshot.query<PageFacts>(finding.sql, finding.bindings);
    if (facts!.there === false) throw notFound(question.via!.set.name, question.via!.key);
    const ids = facts!.ids?.split(',') ?? [];
    const { chunks, count } = await readPageItems(snapshot, items, ids, question.signal);
    return answerOf(question, { facts: facts!, ids: ids.slice(0, count), left }, chunks);
  });
}

/** The answer around a page's entities. */
function answerOf(
  question: PageQuestion,
  { facts, ids, left }: { facts: PageFacts; ids: string[]; left: number | null },
  chunks: Buffer[],
): Buffer[] {
  const { set, options, token, wire } = question;
  const { found, keys } = facts;
  const last = ids.at(-1);
  const remaining = left === null ? null : left - ids.length;
  const more = found > ids.length && remaining !== 0;
  const position = token ? token.position : facts.position;
  const links: string[] = [];
  if (more && last !== undefined) {
    const next = writeSkipToken({
      bound: question.bound,
      keys: keys?.[ids.length - 1] ?? [],
      id: last,
      left: remaining,
      position,
      since: null,
    });
    links.push(`"@odata.nextLink":${JSON.stringify(question.link({ $skiptoken: next }))}`);
  } else if (question.track && position !== null) {
    const delta = writeDeltaToken({ bound: question.bound, position, shape: set.shape });
    links.push(`"@odata.deltaLink":${JSON.stringify(question.link({ $deltatoken: delta }))}`);
  }
  const members = [
    ...contextOf(
      wire,
      question.references ? 'Collection($ref)' : set.name,
      question.references ? undefined : options,
    ),
    ...(options.count && !token
      ? [`"@odata.count":${wire.exactNumbers ? `"${facts.total}"` : facts.total}`]
      : []),
    '"value":[',
  ];
  return [Buffer.from(`{${members.join(',')}`), ...chunks, Buffer.from(`${[']', ...links].join(',')}}`)];
}

/** A statement that finds the entities of a page and what is told besides. */
function foundStatement(writing: Writing, question: PageQuestion, size: number): Fragment {
  const { set, via, options, token, track } = question;
  const source = selection(writing, question);
  const keys = orderKeys(options.orderby, { writing, option: '$orderby', set, alias: ROOT });
  const order = orderList(keys, ROOT);
  const place = token ? sql` and ${behind(keys, token.keys, token.id, ROOT)}` : raw('');
  const looked = inOrder(writing, question, place) ?? sql`${source.from} where ${source.where}${place}`;
  const values =
    keys.length === 0
      ? raw('null::text[]')
      : sql`array[${listOf(keys.map((key) => sql`(${key.sql})::text`))}]`;
  const total =
    options.count && !token
      ? sql`(select count(*) from ${source.from} where ${source.where})`
      : raw('null::bigint');
  const position = track && !token ? raw(POSITION) : raw('null::bigint');
  const there = via ? isThere(writing, via.set, via.key) : raw('null::boolean');
  return sql`with page as materialized (
      select found.id, found.keys, row_number() over () as n
      from (select c.id, ${values} as keys from ${looked}
            order by ${order} limit ${size === 0 ? 0 : size + 1} offset ${token ? 0 : options.skip}) found)
    select ${total} as total, ${position} as position, ${there} as there, (select count(*) from page) as found,
      (select string_agg(id::text, ',' order by n) from page where n <= ${size}::int) as ids,
      (select json_agg(keys order by n) from page where n <= ${size}::int) as keys`;
}

/** How many entities the question's filter lets through. */
export async function countEntities(
  ctx: Ctx,
  question: Pick<PageQuestion, 'model' | 'set' | 'via' | 'options'>,
): Promise<number> {
  const writing = createWriting(ctx, question.model);
  const { from, where } = selection(writing, question);
  const there = question.via ? isThere(writing, question.via.set, question.via.key) : raw('true');
  const [row] = await runStatement<{ total: number; there: boolean }>(
    ctx,
    sql`select (select count(*) from ${from} where ${where}) as total, ${there} as there`,
  );
  if (!row!.there) throw notFound(question.via!.set.name, question.via!.key);
  return row!.total;
}
