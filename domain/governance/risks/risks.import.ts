import { lockCards } from '../../inventory/cards/cards.load.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { foldName, type ImportRow, type Known, type KnownRisk, planImport } from './import.rules.ts';
import { addRisks } from './risks.add.ts';
import { withReferences } from './risks.references.ts';
import type { LinkedCard } from './risks.types.ts';

interface ImportedRow {
  row_index: number;
  status: 'created' | 'skipped' | 'failed';
  /** For a skipped row the existing risk; null for new risks of a dry run. */
  id: string | null;
  reference: string | null;
  error: string | null;
  warnings: string[];
}

export interface ImportReport {
  results: ImportedRow[];
  created: number;
  skipped: number;
  failed: number;
  dry_run: boolean;
}

/**
 * Imports risks in one transaction and a fixed number of statements. Failed and skipped rows do not affect others. A dry run
 * writes nothing.
 * @throws EstateError `forbidden`.
 */
export async function importRisks(ctx: Ctx, rows: ImportRow[], dryRun: boolean): Promise<ImportReport> {
  requirePermission(ctx.caller, 'risks.manage');
  const results = await withReferences(() =>
    command(ctx, (work) => importWithin(work, ctx, rows, dryRun), { dryRun }),
  );
  const count = (status: ImportedRow['status']) => results.filter((row) => row.status === status).length;
  return {
    results,
    created: count('created'),
    skipped: count('skipped'),
    failed: count('failed'),
    dry_run: dryRun,
  };
}

async function importWithin(
  work: Work,
  ctx: Ctx,
  rows: ImportRow[],
  dryRun: boolean,
): Promise<ImportedRow[]> {
  const cards = await readCards(work, ctx, rows);
  await work.sql.raw('select pg_advisory_xact_lock(?)', [IMPORT_LOCK]);
  const known: Known = { ...(await readRegister(work, rows)), ...(await readPeople(work, rows)), cards };
  const planned = planImport(rows, known, ctx.caller.userId);
  const drafts = planned.flatMap((row) => (row.status === 'created' ? [row.draft] : []));
  const risks = (await addRisks(work, ctx, drafts)).values();
  return planned.map((row): ImportedRow => {
    const { row_index, status, warnings } = row;
    if (row.status === 'created') {
      const { id, reference } = risks.next().value!;
      return { row_index, status, id: dryRun ? null : id, reference, error: null, warnings };
    }
    const there = row.status === 'skipped' ? row.known : null;
    return {
      row_index,
      status,
      id: there?.id ?? null,
      reference: there?.reference ?? null,
      error: row.error,
      warnings,
    };
  });
}

/** Serialises imports, so that a second import of the same rows finds those of the first. */
const IMPORT_LOCK = 7203059;

/** The existing risks of the rows. */
async function readRegister(
  { sql }: Work,
  rows: ImportRow[],
): Promise<Pick<Known, 'byReference' | 'byTitle'>> {
  const references = rows.flatMap(({ reference }) => reference?.trim().toUpperCase() ?? []);
  const titles = rows.map(({ title }) => foldName(title));
  const { rows: found } = await sql.raw(
    `select r.id, r.reference, lower(trim(r.title)) as title from risks r
     where r.reference = any(?::text[]) or lower(trim(r.title)) = any(?::text[]) order by r.reference desc`,
    [references, titles],
  );
  const risks = found as (KnownRisk & { title: string })[];
  return {
    byReference: new Map(risks.map(({ id, reference }) => [reference, { id, reference }])),
    // the oldest risk of a title is used
    byTitle: new Map(risks.map(({ id, reference, title }) => [title, { id, reference }])),
  };
}

/** The active users whom the rows name as owners. */
async function readPeople({ sql }: Work, rows: ImportRow[]): Promise<Pick<Known, 'byEmail' | 'byName'>> {
  const emails = rows.flatMap(({ owner_email }) => owner_email?.trim().toLowerCase() ?? []);
  const names = rows.flatMap(({ owner_name }) => (owner_name ? foldName(owner_name) : []));
  const { rows: users } = await sql.raw(
    `select id, lower(email) as email, lower(trim(display_name)) as name from users
     where is_active and (lower(email) = any(?::text[]) or lower(trim(display_name)) = any(?::text[])) order by id`,
    [emails, names],
  );
  const byName = new Map<string, string[]>();
  for (const { id, name } of users as { id: string; name: string }[]) {
    byName.set(name, [...(byName.get(name) ?? []), id]);
  }
  return {
    byEmail: new Map(users.map((user: { id: string; email: string }) => [user.email, user.id])),
    byName,
  };
}

/** The active cards of the rows that the caller sees, locked for sharing. */
async function readCards(work: Work, ctx: Ctx, rows: ImportRow[]): Promise<Known['cards']> {
  const names = [...new Set(rows.flatMap(({ card_names }) => (card_names ?? []).map(foldName)))];
  if (names.length === 0) return new Map();
  const visible = visibleCards(ctx);
  const read = async (more: string, bindings: unknown[]) =>
    (
      await work.sql.raw(
        `select n.name, c.id, c.type from unnest(?::text[]) as n (name) join cards c on c.name_key = fold(n.name)
         where c.status = 'ACTIVE' and (${visible.sql}) ${more} order by c.id`,
        [names, ...visible.bindings, ...bindings] as never,
      )
    ).rows as (LinkedCard & { name: string })[];
  const ids = [...new Set((await read('', [])).map(({ id }) => id))];
  await lockCards(work, ids, 'share');
  const cards = new Map<string, LinkedCard[]>();
  for (const { name, id, type } of await read('and c.id = any(?::uuid[])', [ids])) {
    cards.set(name, [...(cards.get(name) ?? []), { id, type }]);
  }
  return cards;
}
