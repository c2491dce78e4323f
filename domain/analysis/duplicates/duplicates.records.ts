import { createHash } from 'node:crypto';
import { embed, query, type Sql, type Transaction } from '../../../platform/database.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { attributeOf, type ComparedField, isFact, vendorRelations } from './duplicates.fields.ts';
import type { ClusterStatus, PairDecision } from './duplicates.model.ts';

/** The compared values of a card. */
export interface CardRecord {
  id: string;
  values: Record<string, string | number | string[] | null>;
}

/** The number of characters of a text that are compared. */
const DESCRIPTION = 2_000;
const SHORT = 500;
/** The number of related cards of a card that are compared, the first ones by id. */
const MOST_RELATED = 100;
const PAGE = 2_000;

/** Cards of a type in the order of their ids, in pages, to bound memory. */
export async function* recordPages(
  sql: Sql,
  metamodel: Metamodel,
  type: string,
  fields: readonly ComparedField[],
): AsyncGenerator<CardRecord[]> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const rows = await query(sql).rows`select id from cards
      where type = ${type} and status = 'ACTIVE' and id > ${after}::uuid order by id limit ${embed(PAGE)}`;
    if (rows.length === 0) return;
    const ids = rows.map(({ id }: { id: string }) => id);
    yield await recordsOf(sql, metamodel, type, fields, ids);
    after = ids.at(-1)!;
  }
}

interface Row {
  id: string;
  name: string;
  alias: string | null;
  description: string | null;
  subtype: string | null;
  parent: string | null;
  attributes: Record<string, unknown>;
  vendors: string[] | null;
  related: string[] | null;
}

/** The compared values of these cards of the type, without archived and deleted ones. */
export async function recordsOf(
  sql: Sql,
  metamodel: Metamodel,
  type: string,
  fields: readonly ComparedField[],
  ids: readonly string[],
): Promise<CardRecord[]> {
  const vendors = vendorRelations(metamodel, type);
  const rows = await query(sql).rows`with page as (select unnest(${ids}::uuid[]) as id),
       ends as (
         select p.id, r.type, r.target_id as other from page p join relations r on r.source_id = p.id
         union all
         select p.id, r.type, r.source_id from page p join relations r on r.target_id = p.id
       ),
       vendors as (
         select e.id, array_agg(distinct v.name order by v.name) as names from ends e
         join cards v on v.id = e.other
         where e.type = any(${vendors}::text[]) group by e.id
       ),
       related as (
         select e.id, (array_agg(distinct e.other order by e.other))[1:${embed(MOST_RELATED)}] as ids
         from ends e
         where e.type <> all(${vendors}::text[]) group by e.id
       )
     select c.id, c.name, left(c.alias, ${embed(SHORT)}) as alias,
     left(c.description, ${embed(DESCRIPTION)}) as description,
       c.subtype, p.name as parent, c.attributes, v.names as vendors, r.ids::text[] as related
     from page join cards c on c.id = page.id left join cards p on p.id = c.parent_id
     left join vendors v on v.id = c.id left join related r on r.id = c.id
     where c.type = ${type} and c.status = 'ACTIVE' order by c.id`;
  return rows.map((row: Row) => ({
    id: row.id,
    values: Object.fromEntries(fields.map(({ name }) => [name, saidIn(row, name)])),
  }));
}

function saidIn(row: Row, name: string): CardRecord['values'][string] {
  const key = attributeOf(name);
  if (key !== undefined) {
    const value = row.attributes[key];
    if (typeof value === 'number') return value;
    return typeof value === 'string' && value !== '' ? value.slice(0, SHORT) : null;
  }
  if (name === 'name') return row.name.slice(0, SHORT);
  if (name === 'names') return namesOf(row);
  if (name === 'description') return row.description;
  if (name === 'subtype') return row.subtype;
  if (name === 'parent') return row.parent;
  if (name === 'vendor') return row.vendors?.join(' ').slice(0, SHORT) ?? null;
  return row.related ?? [];
}

/** The name, and the names in the alias. */
function namesOf({ name, alias }: Row): string[] {
  const others = (alias ?? '')
    .split(/[,;|\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return [name.slice(0, SHORT), ...others];
}

/**
 * A hash of the values whose change invalidates decisions; empty values are ignored, so that a new field changes
 * nothing.
 */
export function factsOf({ values }: CardRecord, fields: readonly ComparedField[]): string {
  const hash = createHash('sha256');
  const facts = fields.filter(isFact).map(({ name }) => name);
  for (const name of facts.sort()) {
    const value = values[name] ?? null;
    if (value === null || (typeof value !== 'number' && value.length === 0)) continue;
    hash.update(`${JSON.stringify([name, value])}\n`);
  }
  return hash.digest('base64url').slice(0, 22);
}

/** The id of a pair or cluster, derived from the ids of its cards in any order. */
export function idFor(kind: 'pair' | 'cluster', ids: readonly string[]): string {
  const hex = createHash('sha256')
    .update(`${kind} ${ids.toSorted().join(' ')}`)
    .digest('hex');
  // version 8 of RFC 9562: a custom format
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** The pairs of some cards, each with the lower id first. */
export const pairsOf = (ids: readonly string[]): { id: string; left_id: string; right_id: string }[] => {
  const sorted = ids.toSorted();
  return sorted.flatMap((left_id, at) =>
    sorted.slice(at + 1).map((right_id) => ({ id: idFor('pair', [left_id, right_id]), left_id, right_id })),
  );
};

/** The status of a cluster: the decision that all of its pairs have in common. */
export function statusOf(ids: readonly string[], decided: ReadonlyMap<string, PairDecision>): ClusterStatus {
  const decisions = new Set(pairsOf(ids).map(({ id }) => decided.get(id)));
  if (decisions.size === 0 || decisions.has(undefined)) return 'pending';
  if (decisions.size === 1) return [...decisions][0]!;
  return decisions.has('investigating') ? 'investigating' : 'pending';
}

/** Locks the decisions and results of a type until the transaction ends. */
export async function lockDecisions(sql: Transaction, type: string): Promise<void> {
  await query(sql).run`select pg_advisory_xact_lock(7203057, hashtext(${type}))`;
}
