import Type from 'typebox';
import { sha256 } from '../../../platform/crypto.ts';
import { type Db, inTransaction, query, type Sql, type Transaction } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import bundled from './eol.bundled.json' with { type: 'json' };
import { InvalidFacts, readProduct } from './eol.document.ts';
import { EOL_TOPIC, type FactSource, type ProductFacts } from './eol.model.ts';

/** Facts with the validators of the response. */
export interface ReceivedFacts {
  facts: ProductFacts;
  etag?: string | null;
  lastModified?: string | null;
}

/** Names of products by whether their facts changed. */
interface SavedFacts {
  changed: string[];
  unchanged: string[];
}

/**
 * Replaces the facts of products. Unchanged facts keep their `changed_at`.
 * @param replaces sources whose facts may be replaced.
 */
export async function storeFacts(
  sql: Transaction,
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
  const stored = await query(sql).rows<{ name: string; changed: boolean }>`with given as (select *
    from jsonb_populate_recordset(null::eol_products, ${JSON.stringify(rows)}::jsonb)),
     before as (select p.name, p.digest from eol_products p join given using (name))
     insert into eol_products as p
       (name, label, category, aliases, link, source, digest, etag, last_modified, checked_at, changed_at)
     select g.name, g.label, g.category, g.aliases, g.link, ${source}, g.digest, g.etag, g.last_modified,
     now(), now()
     from given g order by g.name
     on conflict (name) do update set
       label = excluded.label, category = excluded.category, aliases = excluded.aliases, link = excluded.link,
       source = excluded.source, digest = excluded.digest, etag = excluded.etag,
       last_modified = excluded.last_modified, checked_at = excluded.checked_at,
       changed_at = case when p.digest = excluded.digest then p.changed_at else excluded.changed_at end
     where p.source = any(${replaces}::text[])
     returning p.name, p.digest is distinct from (select b.digest from before b
     where b.name = p.name) as changed`;
  const names = (changed: boolean): string[] =>
    stored.filter((row) => row.changed === changed).map(({ name }) => name);
  const changed = names(true);
  if (changed.length > 0) await storeCycles(sql, rows, new Set(changed));
  return { changed, unchanged: names(false) };
}

async function storeCycles(
  sql: Transaction,
  rows: { name: string; cycles: object[] }[],
  changed: ReadonlySet<string>,
): Promise<void> {
  const cycles = rows
    .filter(({ name }) => changed.has(name))
    .flatMap(({ name, cycles }) => cycles.map((cycle) => ({ product: name, ...cycle })));
  await sql('eol_cycles')
    .whereIn('product', [...changed])
    .delete();
  await query(sql).run`insert into eol_cycles select *
    from jsonb_populate_recordset(null::eol_cycles, ${JSON.stringify(cycles)}::jsonb)`;
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
interface KnownProduct {
  name: string;
  etag: string | null;
  last_modified: string | null;
}

/** The validators of the products' facts, as far as they came from the API. */
export async function knownProducts(sql: Sql, names: string[]): Promise<Map<string, KnownProduct>> {
  const rows = await query(sql).rows<KnownProduct>`select name, etag, last_modified from eol_products
    where source = 'api' and name = any(${names}::text[])`;
  return new Map(rows.map((row) => [row.name, row]));
}

/** Records that the API has confirmed the facts of products. */
export async function confirmFacts(sql: Sql, names: string[]): Promise<void> {
  await sql('eol_products').whereIn('name', names).update({ checked_at: sql.fn.now() });
}

/**
 * Loads the facts of a document of products in the form of the public API, all of them or, when one does not fit, none.
 * @throws EstateError `forbidden`, `validation_failed` with the error.
 */
export async function loadFacts(ctx: Ctx, products: unknown[]) {
  requirePermission(ctx.caller, 'admin.settings');
  const facts = products.map(readGiven);
  const twice = facts.findIndex(({ name }, n) => facts.findIndex((other) => other.name === name) < n);
  if (twice >= 0) throw invalidField(`result.${twice}.name`, 'duplicate', 'repeats an earlier product');
  return await command(ctx, async (work) => {
    const given = facts.map((each) => ({ facts: each }));
    const { changed } = await saveFacts(work, given, 'file');
    const cycles = facts.reduce((sum, each) => sum + each.cycles.length, 0);
    return { products: facts.length, cycles, changed: changed.length };
  });
}

function readGiven(product: unknown, n: number): ProductFacts {
  try {
    return readProduct(product, `result.${n}`);
  } catch (error) {
    if (!(error instanceof InvalidFacts)) throw error;
    const [field, ...rest] = error.message.split(' ');
    throw invalidField(field!, 'bad_facts', rest.join(' '));
  }
}

/**
 * The facts that come with the program, for workspaces without a network; NOTICE names their sources. Without a date of
 * end of life the cycle is still supported.
 */
export function bundledFacts(): ProductFacts[] {
  return bundled.map(({ cycles, ...product }) => ({
    ...product,
    link: null,
    cycles: cycles.map(({ cycle, codename, release_date, support_until, eol_from, is_lts }) => ({
      cycle,
      codename,
      release_date,
      support_until,
      is_supported: null,
      eol_from,
      is_eol: eol_from === null ? false : null,
      lts_from: null,
      is_lts,
      discontinued_from: null,
      is_discontinued: null,
      latest: null,
      latest_release_date: null,
      link: null,
    })),
  }));
}

/** Stores the bundled facts of products of which nothing better is known. */
export async function seedFacts(db: Db): Promise<void> {
  await inTransaction(db, async (sql) => {
    const received = bundledFacts().map((facts) => ({ facts }));
    const { changed } = await storeFacts(sql, received, 'bundled', ['bundled']);
    if (changed.length > 0) await query(sql).run`select raise_topics(array[${EOL_TOPIC}])`;
  });
}

/** Reloads the facts about products from their source. */
export const eolRefreshJob = defineJob({
  kind: 'eol_refresh',
  queue: 'bulk',
  payload: Type.Object({}, { additionalProperties: false }),
  attempts: 6,
  longestWaitSeconds: 900,
  retentionDays: 30,
  resumable: true,
});

/**
 * Starts the job that reloads the facts, unless it is queued or running.
 * @throws EstateError `forbidden`, `wrong_state`.
 */
export async function startRefresh(ctx: Ctx): Promise<StartedJob> {
  requirePermission(ctx.caller, 'eol.manage');
  return await command(ctx, async (work) => {
    const started = await work
      .sql('jobs')
      .where({ kind: eolRefreshJob.kind })
      .whereIn('status', ['queued', 'running'])
      .first('id');
    if (started) throw new EstateError('wrong_state', 'The facts are being read already.');
    return await enqueueJob(ctx, work, eolRefreshJob, {});
  });
}
