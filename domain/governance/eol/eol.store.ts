import type { Knex } from 'knex';
import { sha256 } from '../../../platform/crypto.ts';
import { queryRows, type Sql } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';
import { EOL_TOPIC, type FactSource, type ProductFacts } from './eol.types.ts';

/** Facts with the validators of the response. */
export interface ReceivedFacts {
  facts: ProductFacts;
  etag?: string | null;
  lastModified?: string | null;
}

/** Names of products by whether their facts changed. */
export interface SavedFacts {
  changed: string[];
  unchanged: string[];
}

const cycleColumns = `cycle text, codename text, release_date date, support_until date, is_supported boolean,
  eol_from date, is_eol boolean, lts_from date, is_lts boolean, discontinued_from date, is_discontinued boolean,
  latest text, latest_release_date date, link text`;
const cycleNames = cycleColumns
  .split(',')
  .map((column) => column.trim().split(' ')[0])
  .join(', ');

/**
 * Replaces the facts of products. Unchanged facts keep their `changed_at`.
 * @param replaces sources whose facts may be replaced.
 */
export async function storeFacts(
  sql: Knex.Transaction,
  received: ReceivedFacts[],
  source: FactSource,
  replaces: FactSource[] = ['api', 'file', 'bundled'],
): Promise<SavedFacts> {
  if (received.length === 0) return { changed: [], unchanged: [] };
  // in a fixed order, to avoid deadlocks
  const ordered = received.toSorted((a, b) => (a.facts.name < b.facts.name ? -1 : 1));
  const rows = ordered.map(({ facts: { cycles, ...product }, etag, lastModified }) => ({
    ...product,
    digest: sha256(JSON.stringify([product, cycles])),
    etag: etag ?? null,
    last_modified: lastModified ?? null,
    cycles,
  }));
  const stored = await queryRows<{ name: string; changed: boolean }>(
    sql,
    `with given as (
       select * from jsonb_to_recordset(?::jsonb) as g(
         name text, label text, category text, aliases text[], link text, digest text, etag text, last_modified text
       )
     ),
     before as (select p.name, p.digest from eol_products p join given using (name))
     insert into eol_products as p
       (name, label, category, aliases, link, source, digest, etag, last_modified, checked_at, changed_at)
     select g.name, g.label, g.category, g.aliases, g.link, ?, g.digest, g.etag, g.last_modified, now(), now()
     from given g order by g.name
     on conflict (name) do update set
       label = excluded.label, category = excluded.category, aliases = excluded.aliases, link = excluded.link,
       source = excluded.source, digest = excluded.digest, etag = excluded.etag,
       last_modified = excluded.last_modified, checked_at = excluded.checked_at,
       changed_at = case when p.digest = excluded.digest then p.changed_at else excluded.changed_at end
     where p.source = any(?::text[])
     returning p.name, p.digest is distinct from (select b.digest from before b where b.name = p.name) as changed`,
    [JSON.stringify(rows), source, replaces],
  );
  const names = (changed: boolean): string[] =>
    stored.filter((row) => row.changed === changed).map(({ name }) => name);
  const changed = names(true);
  if (changed.length > 0) await storeCycles(sql, rows, new Set(changed));
  return { changed, unchanged: names(false) };
}

async function storeCycles(
  sql: Knex.Transaction,
  rows: { name: string; cycles: object[] }[],
  changed: ReadonlySet<string>,
): Promise<void> {
  const cycles = rows
    .filter(({ name }) => changed.has(name))
    .flatMap(({ name, cycles }) => cycles.map((cycle) => ({ product: name, ...cycle })));
  await sql('eol_cycles')
    .whereIn('product', [...changed])
    .delete();
  await sql.raw(
    `insert into eol_cycles (product, ${cycleNames})
     select product, ${cycleNames} from jsonb_to_recordset(?::jsonb) as g(product text, ${cycleColumns})`,
    [JSON.stringify(cycles)],
  );
}

/** Stores facts within a command, with an event and a new topic version for changes. */
export async function saveFacts(
  work: Work,
  received: ReceivedFacts[],
  source: FactSource,
): Promise<SavedFacts> {
  const saved = await storeFacts(work.sql, received, source);
  if (saved.changed.length > 0) {
    work.emit({ event_type: 'eol_facts.loaded', data: { source, products: saved.changed } });
    work.raise(EOL_TOPIC);
  }
  return saved;
}

/** The validators of a conditional request for a product. */
export interface KnownProduct {
  name: string;
  etag: string | null;
  last_modified: string | null;
}

/** The validators of the products' facts, as far as they came from the API. */
export async function knownProducts(sql: Sql, names: string[]): Promise<Map<string, KnownProduct>> {
  const rows = await queryRows<KnownProduct>(
    sql,
    `select name, etag, last_modified from eol_products where source = 'api' and name = any(?::text[])`,
    [names],
  );
  return new Map(rows.map((row) => [row.name, row]));
}

/** Records that the API has confirmed the facts of products. */
export async function confirmFacts(sql: Sql, names: string[]): Promise<void> {
  await sql('eol_products').whereIn('name', names).update({ checked_at: sql.fn.now() });
}
