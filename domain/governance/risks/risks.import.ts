import Type, { type Static } from 'typebox';
import { query, queryRows } from '../../../platform/database.ts';
import type { LinkedCard } from '../../collaboration/cards.access.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { Clearable, DateOnly, IntegerIn, object, TextUpTo } from '../../kernel/shapes.ts';
import {
  type Impact,
  impacts,
  type Probability,
  probabilities,
  type RiskCategory,
  type RiskRow,
  type RiskStatus,
  riskCategories,
  riskStatuses,
  Title,
} from './risks.model.ts';
import { addRisks, type RiskDraft, withReferences } from './risks.store.ts';

const Key = (values: readonly string[], byDefault: string) =>
  Type.String({ maxLength: 100, default: byDefault, description: `One of ${values.join(', ')}` });
const OptionalKey = (values: readonly string[]) => Clearable(TextUpTo(100, `One of ${values.join(', ')}`));
/** A row of an import as sent. */
export const ImportItem = object({
  row_index: IntegerIn(0, 1_000_000_000, 'Returned with the result'),
  title: Title,
  description: Type.String({ maxLength: 10_000, default: '' }),
  category: Key(riskCategories, 'operational'),
  initial_probability: Key(probabilities, 'medium'),
  initial_impact: Key(impacts, 'medium'),
  residual_probability: OptionalKey(probabilities),
  residual_impact: OptionalKey(impacts),
  status: Key(riskStatuses, 'identified'),
  owner_email: Clearable(Type.String({ maxLength: 320 })),
  owner_name: Clearable(TextUpTo(200, 'Used if no user has the address')),
  target_resolution_date: Clearable(DateOnly),
  card_names: Type.Optional(
    Type.Array(Type.String({ maxLength: 500 }), {
      maxItems: 100,
      description: 'Names of active cards; an unknown or ambiguous name is a warning',
    }),
  ),
  reference: Clearable(TextUpTo(100, 'A row whose reference is in the register is skipped')),
});
export type ImportRow = Static<typeof ImportItem>;

/** The risks, users and cards that the rows name; names are folded. */
export interface ImportReferences {
  /** Ids and references of the risks with such a reference, and with such a title. */
  byReference: ReadonlyMap<string, KnownRisk>;
  byTitle: ReadonlyMap<string, KnownRisk>;
  /** Active users by lower-case address and by name, which several users may have. */
  byEmail: ReadonlyMap<string, string>;
  byName: ReadonlyMap<string, string[]>;
  cards: ReadonlyMap<string, LinkedCard[]>;
}

interface KnownRisk {
  id: string;
  reference: string;
}

/** The decision about a row. */
type PlannedRow = { row_index: number; warnings: string[] } & (
  | { status: 'created'; draft: RiskDraft }
  | { status: 'skipped'; known: KnownRisk | null; error: string }
  | { status: 'failed'; error: string }
);

/** Normalises a name for comparison, like `fold` in the database. */
const foldName = (text: string): string => text.trim().toLowerCase();

/** The acceptance rationale of imported risks, which rows do not have. */
const IMPORTED_RATIONALE = 'Accepted before it was imported.';

/**
 * Decides each row separately: a risk that already exists, by reference or else by title, is skipped, as is a row that
 * repeats an earlier one; unknown users and cards are warnings. @param userId the importing user.
 */
export function planImport(
  rows: readonly ImportRow[],
  known: ImportReferences,
  userId: string | null,
): PlannedRow[] {
  const references = new Set<string>();
  const titles = new Set<string>();
  return rows.map((row): PlannedRow => {
    const { row_index } = row;
    const warnings: string[] = [];
    const error = errorOf(row);
    if (error !== undefined) return { row_index, status: 'failed', error, warnings };
    const reference = row.reference?.trim() ? row.reference.trim().toUpperCase() : null;
    const title = foldName(row.title);
    const there = (reference !== null && known.byReference.get(reference)) || known.byTitle.get(title);
    if (there) {
      const why = there.reference === reference ? 'reference' : 'title';
      const message = `the register has ${there.reference} of this ${why}`;
      return { row_index, status: 'skipped', known: there, error: message, warnings };
    }
    if (titles.has(title) || (reference !== null && references.has(reference))) {
      const message = 'a row before has the same title or reference';
      return { row_index, status: 'skipped', known: null, error: message, warnings };
    }
    titles.add(title);
    if (reference !== null) {
      references.add(reference);
      warnings.push(`the reference ${row.reference} is ignored: the register assigns its own`);
    }
    const values = { ...valuesOf(row), owner_id: ownerOf(row, known, warnings) };
    if (values.status === 'accepted') {
      warnings.push('accepted in the name of the importing user, because the row has no rationale');
      Object.assign(values, {
        acceptance_rationale: IMPORTED_RATIONALE,
        accepted_by: userId,
        accepted_at: new Date().toISOString(),
      });
    }
    const draft = { values, cards: cardsOf(row, known, warnings) };
    return { row_index, status: 'created', draft, warnings };
  });
}

/** Unknown values of the row. */
function errorOf(row: ImportRow): string | undefined {
  const errors: string[] = [];
  const among = (name: keyof ImportRow, values: readonly string[]) => {
    const value = row[name];
    if (value === undefined || value === null || values.includes(String(value))) return;
    errors.push(`${name}: is none of ${values.join(', ')}`);
  };
  if (row.title.trim() === '') errors.push('title: must not be blank');
  among('category', riskCategories);
  among('initial_probability', probabilities);
  among('initial_impact', impacts);
  among('residual_probability', probabilities);
  among('residual_impact', impacts);
  among('status', riskStatuses);
  return errors.length > 0 ? errors.join('; ') : undefined;
}

const valuesOf = (row: ImportRow): Partial<RiskRow> & { title: string } => ({
  title: row.title.trim(),
  description: row.description,
  category: row.category as RiskCategory,
  initial_probability: row.initial_probability as Probability,
  initial_impact: row.initial_impact as Impact,
  residual_probability: (row.residual_probability ?? null) as Probability | null,
  residual_impact: (row.residual_impact ?? null) as Impact | null,
  status: row.status as RiskStatus,
  target_resolution_date: row.target_resolution_date ?? null,
});

function ownerOf(row: ImportRow, known: ImportReferences, warnings: string[]): string | null {
  const email = row.owner_email?.trim();
  const byEmail = email ? known.byEmail.get(email.toLowerCase()) : undefined;
  if (byEmail) return byEmail;
  const name = row.owner_name?.trim();
  const byName = name ? (known.byName.get(foldName(name)) ?? []) : [];
  if (byName.length === 1) return byName[0]!;
  if (byName.length > 1) warnings.push(`several users are called ${name}: nobody owns the risk`);
  else if (email || name) warnings.push(`no active user is ${[email, name].filter(Boolean).join(', ')}`);
  return null;
}

function cardsOf(row: ImportRow, known: ImportReferences, warnings: string[]): LinkedCard[] {
  const cards = new Map<string, LinkedCard>();
  for (const name of row.card_names ?? []) {
    const found = known.cards.get(foldName(name)) ?? [];
    if (found.length === 1) cards.set(found[0]!.id, found[0]!);
    else
      warnings.push(
        found.length === 0 ? `no active card is called ${name}` : `several cards are called ${name}`,
      );
  }
  return [...cards.values()];
}

/**
 * Imports risks in one transaction and a fixed number of statements. Failed and skipped rows do not affect others. A dry run
 * writes nothing.
 * @throws EstateError `forbidden`.
 */
export async function importRisks(ctx: Ctx, rows: ImportRow[], dryRun: boolean) {
  requirePermission(ctx.caller, 'risks.manage');
  const results = await withReferences(() =>
    commandWith(ctx, { dryRun }, (work) => importWithin(work, ctx, rows, dryRun)),
  );
  const count = (status: PlannedRow['status']) => results.filter((row) => row.status === status).length;
  return {
    results,
    created: count('created'),
    skipped: count('skipped'),
    failed: count('failed'),
    dry_run: dryRun,
  };
}

async function importWithin(work: Work, ctx: Ctx, rows: ImportRow[], dryRun: boolean) {
  const cards = await readCards(work, ctx, rows);
  await query(work.sql).run`select pg_advisory_xact_lock(${IMPORT_LOCK})`;
  const known: ImportReferences = {
    ...(await readRegister(work, rows)),
    ...(await readPeople(work, rows)),
    cards,
  };
  const planned = planImport(rows, known, ctx.caller.userId);
  const drafts = planned.flatMap((row) => (row.status === 'created' ? [row.draft] : []));
  const risks = (await addRisks(work, ctx, drafts)).values();
  return planned.map((row) => {
    const { row_index, status, warnings } = row;
    if (row.status === 'created') {
      const { id, reference } = risks.next().value!;
      return { row_index, status, id: dryRun ? null : id, reference, error: null, warnings };
    }
    const there = row.status === 'skipped' ? row.known : null;
    const reference = there?.reference ?? null;
    return { row_index, status, id: there?.id ?? null, reference, error: row.error, warnings };
  });
}

/** Serialises imports, so that a second import of the same rows finds those of the first. */
const IMPORT_LOCK = 7203059;

/** The existing risks of the rows. */
async function readRegister(
  { sql }: Work,
  rows: ImportRow[],
): Promise<Pick<ImportReferences, 'byReference' | 'byTitle'>> {
  const references = rows.flatMap(({ reference }) => reference?.trim().toUpperCase() ?? []);
  const titles = rows.map(({ title }) => foldName(title));
  const risks = await query(sql).rows<KnownRisk & { title: string }>`select r.id, r.reference,
    lower(trim(r.title)) as title from risks r
     where r.reference = any(${references}::text[]) or lower(trim(r.title)) = any(${titles}::text[])
     order by r.reference desc`;
  return {
    byReference: new Map(risks.map(({ id, reference }) => [reference, { id, reference }])),
    // the oldest risk of a title is used
    byTitle: new Map(risks.map(({ id, reference, title }) => [title, { id, reference }])),
  };
}

/** The active users that the rows name as owners. */
async function readPeople(
  { sql }: Work,
  rows: ImportRow[],
): Promise<Pick<ImportReferences, 'byEmail' | 'byName'>> {
  const emails = rows.flatMap(({ owner_email }) => owner_email?.trim().toLowerCase() ?? []);
  const names = rows.flatMap(({ owner_name }) => (owner_name ? foldName(owner_name) : []));
  const users = await query(sql).rows<Record<'id' | 'email' | 'name', string>>`select id,
    lower(email) as email, lower(trim(display_name)) as name from users
     where is_active and (lower(email) = any(${emails}::text[])
     or lower(trim(display_name)) = any(${names}::text[])) order by id`;
  const byName = Map.groupBy(users, ({ name }) => name);
  const byEmail = new Map(users.map(({ id, email }) => [email, id]));
  return { byEmail, byName: new Map([...byName].map(([name, found]) => [name, found.map(({ id }) => id)])) };
}

/** The visible active cards of the rows, locked for sharing. */
async function readCards(work: Work, ctx: Ctx, rows: ImportRow[]): Promise<ImportReferences['cards']> {
  const names = [...new Set(rows.flatMap(({ card_names }) => (card_names ?? []).map(foldName)))];
  if (names.length === 0) return new Map();
  const visible = visibleCards(ctx);
  const read = (more: string, bindings: unknown[]) =>
    queryRows<LinkedCard & { name: string }>(
      work.sql,
      `select n.name, c.id, c.type from unnest(?::text[]) as n (name) join cards c on c.name_key = fold(n.name)
       where c.status = 'ACTIVE' and (${visible.sql}) ${more} order by c.id`,
      [names, ...visible.bindings, ...bindings],
    );
  const ids = [...new Set((await read('', [])).map(({ id }) => id))];
  await lockCards(work, ids, 'share');
  return Map.groupBy(await read('and c.id = any(?::uuid[])', [ids]), ({ name }) => name);
}
