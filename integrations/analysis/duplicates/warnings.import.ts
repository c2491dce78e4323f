import { setImmediate } from 'node:timers/promises';
import type { ImportPayload } from '../../../domain/exchange/imports/imports.job.ts';
import { lineBeside } from '../../../domain/exchange/imports/imports.lines.ts';
import { visibleCards } from '../../../domain/inventory/cards/cards.projection.ts';
import { type NamedCard, similarNames } from '../../../domain/inventory/cards/cards.similar.ts';
import type { RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { type Db, embed, inTransaction, query } from '../../../platform/database.ts';
import type { MatchModel, Vocabulary } from '../matching/matching.types.ts';
import { readVocabulary } from './vocabulary.ts';
import { NameIndex } from './warnings.names.ts';
import { addWarnings, type CardWarning, modelOf, spellingsOf, warningsOf } from './warnings.ts';

/** The numbers of rows of the import in memory, of names read, and of pairs scored at once. */
const ROWS = 20_000;
const PAGE = 1_000;
const PAIRS = 200;
/** For so few rows, similar names are searched for; for more of them, all names are read. */
const FEW = 100;

/** A name of a card of a type. */
interface TypedName extends NamedCard {
  type: string;
}

/** A row that creates or renames a card. */
interface NamedRow extends TypedName {
  line: number;
  batch: number;
}

type Warned = Map<number, CardWarning[]>;

/**
 * Stores the warnings of the rows by which an import creates or renames cards. They do not depend on whether the cards are written
 * already. A failure is only logged.
 */
export async function warnOfImported(job: RunningJob<ImportPayload>, db: Db): Promise<void> {
  // the report names the cards, and can be read later
  if (!may(job.ctx.caller, 'inventory.view')) return;
  try {
    const vocabulary = await readVocabulary(db);
    for await (const rows of namedRows(job, db)) await warnOfRows(job, db, rows, vocabulary);
  } catch (error) {
    job.signal.throwIfAborted();
    job.ctx.log.warn({ err: error }, 'likely duplicates of imported cards could not be looked for');
  }
}

async function warnOfRows(
  job: RunningJob<ImportPayload>,
  db: Db,
  rows: NamedRow[],
  vocabulary: Vocabulary | undefined,
): Promise<void> {
  const warned: Warned = new Map();
  const types = new Map<string, TypeCheck>();
  for (const [type, some] of Object.entries(Object.groupBy(rows, (row) => row.type))) {
    types.set(type, new TypeCheck(await modelOf(db, type, vocabulary), some!, warned));
  }
  for await (const others of otherNames(job, db, rows, types.keys(), vocabulary)) {
    for (const other of others) {
      if (!types.get(other.type)?.compare(other)) continue;
      // scoring takes long enough to delay heartbeats and cancellation
      await setImmediate();
      job.signal.throwIfAborted();
    }
  }
  for (const check of types.values()) check.score();
  await store(job, db, warned);
}

/** Compares rows of a type with other names. */
class TypeCheck {
  readonly #model: MatchModel;
  readonly #index: NameIndex<NamedRow>;
  readonly #warned: Warned;
  #pairs: [NamedRow, NamedCard][] = [];

  constructor(model: MatchModel, rows: readonly NamedRow[], warned: Warned) {
    this.#model = model;
    this.#index = new NameIndex(model, rows);
    this.#warned = warned;
  }

  /** @returns whether pairs were scored. */
  compare(other: NamedCard): boolean {
    for (const row of this.#index.similarTo(other)) this.#pairs.push([row, other]);
    if (this.#pairs.length < PAIRS) return false;
    this.score();
    return true;
  }

  score(): void {
    const found = warningsOf(this.#pairs, this.#model);
    for (const { line, id } of new Set(this.#pairs.map(([row]) => row))) {
      const warnings = found.get(id);
      if (warnings) addWarnings(this.#warned, line, warnings);
    }
    this.#pairs = [];
  }
}

/** The rows that create or rename cards, in pages. */
async function* namedRows({ id: jobId }: RunningJob, db: Db): AsyncGenerator<NamedRow[]> {
  for (let [batch, line] = [-1, 0]; ; ) {
    const rows = await query(db).rows<NamedRow>`select p.batch, p.line, p.card_id as id, r.type, r.name
      from import_card_plan p join import_card_rows r on r.job_id = p.job_id and r.line = p.line
      left join import_outcomes o on o.job_id = p.job_id and o.line = p.line
      where p.job_id = ${jobId} and p.named and (p.batch, p.line) > (${batch}, ${line}) and o.outcome is distinct from 'failed'
      order by p.batch, p.line limit ${embed(ROWS)}`;
    if (rows.length === 0) return;
    yield rows;
    ({ batch, line } = rows.at(-1)!);
  }
}

/** The names to compare some rows with: of visible active cards, and those that the import is going to write. */
async function* otherNames(
  job: RunningJob<ImportPayload>,
  db: Db,
  rows: readonly NamedRow[],
  types: Iterable<string>,
  vocabulary: Vocabulary | undefined,
): AsyncGenerator<TypedName[]> {
  const { atomic, dry_run } = job.payload;
  const isWritten = !atomic && !dry_run;
  if (!isWritten) yield* namedRows(job, db);
  const renamed = isWritten
    ? []
    : await query(db).column<string>`select card_id from import_card_plan
        where job_id = ${job.id} and named and not is_new`;
  const old = new Set(renamed);
  for await (const cards of storedNames(job, db, rows, types, vocabulary))
    yield cards.filter(({ id }) => !old.has(id));
}

async function* storedNames(
  { ctx }: RunningJob,
  db: Db,
  rows: readonly NamedRow[],
  types: Iterable<string>,
  vocabulary: Vocabulary | undefined,
): AsyncGenerator<TypedName[]> {
  if (rows.length <= FEW) {
    for (const row of rows) {
      const { type, name } = row;
      const similar = await similarNames(ctx, row, spellingsOf(name, vocabulary));
      yield similar.map((card) => ({ ...card, type }));
    }
    return;
  }
  for (const type of types) {
    for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
      const cards = await query(db).rows<TypedName>`select c.id, c.type, c.name from cards c
        where c.type = ${type} and c.status = 'ACTIVE' and ${embed(visibleCards(ctx))} and c.id > ${after}::uuid
        order by c.id limit ${embed(PAGE)}`;
      if (cards.length === 0) break;
      yield cards;
      after = cards.at(-1)!.id;
    }
  }
}

/** The lines of cards that a dry run does not create. */
async function unwrittenLines(
  job: RunningJob<ImportPayload>,
  db: Db,
  warned: Warned,
): Promise<Map<string, number>> {
  if (!job.payload.dry_run) return new Map();
  const ids = [...warned.values()].flatMap((warnings) => warnings.map(({ card_id }) => card_id));
  const rows = await query(db).rows<{ id: string; line: number }>`select card_id as id, line
    from import_card_plan where job_id = ${job.id} and is_new and card_id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ id, line }) => [id, line]));
}

async function store(job: RunningJob<ImportPayload>, db: Db, warned: Warned): Promise<void> {
  if (warned.size === 0) return;
  const lines = await unwrittenLines(job, db, warned);
  const rows = JSON.stringify(
    [...warned].map(([line, warnings]) => ({
      line,
      warnings: warnings.map(({ card_id, ...warning }) =>
        lines.has(card_id)
          ? { ...warning, other_line: lineBeside(lines.get(card_id)!, line) }
          : { ...warning, card_id },
      ),
    })),
  );
  await inTransaction(db, async (sql) => {
    await job.lock({ sql });
    await query(sql).run`insert into import_warnings (job_id, line, warnings)
      select ${job.id}::uuid, v.line, v.warnings from jsonb_to_recordset(${rows}::jsonb) as v (line integer, warnings jsonb)
      on conflict (job_id, line) do update set warnings = excluded.warnings
        || (select coalesce(jsonb_agg(w), '[]') from jsonb_array_elements(import_warnings.warnings) w
            where w ->> 'code' is distinct from 'likely_duplicate')`;
  });
}
