import { embed, query } from '../../../platform/database.ts';
import { EstateError, type FieldError } from '../../../platform/errors.ts';
import { cardsTopic } from '../../inventory/cards/cards.events.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { type EventDraft, rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import { stagedRows, type TableShape } from './transfer.stage.ts';
import type { Archive } from './workspace.archive.ts';
import type { WorkspaceTransferPayload } from './workspace.jobs.ts';
import type { ContentTable } from './workspace.types.ts';

/** Members of rows that events contain besides the changes. */
const NAMES = ['key', 'label', 'name', 'title', 'reference', 'version', 'revision'] as const;

/**
 * The event of an imported row, in the form of its kind: with the whole row, so that it can be undone, and without members that
 * would notify users of decisions made in another workspace.
 * @param types the types of cards, by their ids.
 */
function importedEvent(
  table: ContentTable,
  before: StoredRow | null,
  after: StoredRow,
  types: ReadonlyMap<string, string>,
): EventDraft | undefined {
  const events = after.relation_id ? (table.ofRelations ?? table.events) : table.events;
  const event_type = before === null ? events?.created : events?.updated;
  if (!event_type) return undefined;
  const id = after.id ?? table.key.map((column) => after[column]).join('/');
  const named = Object.fromEntries(
    NAMES.flatMap((name) => (after[name] === undefined ? [] : [[name, after[name]]])),
  );
  if (table.table === 'reference_catalogues') {
    const { kind, catalogue_version, source, nodes } = after;
    const data = { id, kind, source, catalogue_version, node_count: (nodes as unknown[]).length };
    return { event_type, data };
  }
  const changes = rowChanges(before, after);
  if (Object.keys(changes).length === 0) return undefined;
  const cardId = table.card ? ((after[table.card] ?? null) as string | null) : null;
  const owner = (after.private_to ?? null) as string | null;
  const costs = costsIn(table, after);
  return {
    event_type,
    ...(cardId && types.has(cardId) ? { card_id: cardId, card_type: types.get(cardId)! } : {}),
    ...(table.recipient ? { recipient_id: after[table.recipient] as string } : {}),
    ...(owner ? { scope: 'user' as const, recipient_id: owner } : {}),
    ...(costs ? { cost_keys: costs } : {}),
    data: { id, ...named, changes },
  };
}

/** Columns that hold costs: of an answer to a survey, where it names some. */
function costsIn({ costs }: ContentTable, row: StoredRow): string[] | undefined {
  if (!costs) return undefined;
  return Array.isArray(row.cost_keys) && row.cost_keys.length === 0 ? undefined : [...costs];
}

/** The context of applying an archive. */
export interface Applying {
  job: RunningJob<WorkspaceTransferPayload>;
  services: Services;
  archive: Archive;
  shapes: ReadonlyMap<string, TableShape>;
  /** Rows that are written together. */
  pageRows: number;
}

/** One page of rows of a kind, in its command. */
export interface Page {
  applying: Applying;
  work: Work;
  ctx: Ctx;
  table: ContentTable;
  /** The columns of the kind in the archive. */
  columns: string[];
  lines: number[];
}

/** A row of the archive, with the stored one. */
export interface PageRow {
  line: number;
  content: StoredRow;
  before: StoredRow | null;
}

/** A row that was written. */
export interface WrittenRow {
  before: StoredRow | null;
  after: StoredRow;
}

/** Why a row cannot be written. Its page is then split until the row is isolated. */
export class RowRefused extends EstateError {
  constructor(errors: readonly FieldError[]) {
    super('conflict', errors[0]!.message, { errors: [...errors] });
  }
}

/** Creator and creation time of existing rows are not changed. */
const MADE = new Set(['created_at', 'created_by']);

/** Rows of the page in the order in which they are written; existing ones are locked. */
export async function readPage(page: Page): Promise<PageRow[]> {
  const { table, work, lines } = page;
  const transferId = page.applying.job.payload.transfer_id;
  const here = await query(work.sql).rows<{ line: number; row: StoredRow }>`select s.line, to_jsonb(t) as row
     from ${stagedRows(table.table, transferId)} s join ${embed(table.table)} t on ${sameKey(table)}
     where s.line = any(${lines}::integer[])
     order by ${embed(table.key.map((column) => `t.${column}`).join(', '))} for update of t`;
  const before = new Map(here.map(({ line, row }) => [line, row]));
  const rows = await query(work.sql).rows<
    Omit<PageRow, 'before'>
  >`select line, content from workspace_transfer_rows
     where transfer_id = ${transferId}::uuid and kind = ${table.table} and line = any(${lines}::integer[])
     order by depth, line`;
  return rows.map((row) => ({ ...row, before: before.get(row.line) ?? null }));
}

/** SQL of whether the row `t` of a table has the key of the staged row `s`. */
const sameKey = ({ key }: ContentTable) =>
  embed(key.map((column) => `t.${column} = (s.n).${column}`).join(' and '));

/**
 * Writes the rows of a page, in one statement for new rows and one for existing ones. The values are copied inside
 * PostgreSQL, so that they are exactly preserved.
 */
export async function writeRows(page: Page, rows: readonly PageRow[]): Promise<WrittenRow[]> {
  const { table, columns, work } = page;
  const name = table.table;
  const added = rows.filter(({ before }) => before === null);
  const stored = rows.filter(({ before }) => before !== null);
  if (stored.length > 0 && !table.events?.updated) {
    const message = 'It is here with another content, and is not changed by imports.';
    throw new RowRefused([{ field: '', code: 'differs', message }]);
  }
  const staged = stagedRows(name, page.applying.job.payload.transfer_id);
  const linesOf = (some: readonly PageRow[]) => some.map(({ line }) => line);
  const written: WrittenRow[] = [];
  if (added.length > 0) {
    const values = columns.map((column) => `(s.n).${column}`).join(', ');
    const made = await query(work.sql)
      .column<StoredRow>`insert into ${embed(name)} as t (${embed(columns.join(', '))})
       select ${embed(values)} from ${staged} s
       where s.line = any(${linesOf(added)}::integer[]) order by s.depth, s.line returning to_jsonb(t) as row`;
    for (const after of made) written.push({ before: null, after });
  }
  if (stored.length > 0) {
    const set = columns
      .filter(
        (column) => !table.key.includes(column) && !MADE.has(column) && !table.derived?.includes(column),
      )
      .map((column) => `${column} = (s.n).${column}`);
    const changed = await query(work.sql).rows<{ line: number; row: StoredRow }>`update ${embed(name)} t
       set ${embed(set.join(', '))} from ${staged} s
       where ${sameKey(table)} and s.line = any(${linesOf(stored)}::integer[]) returning s.line, to_jsonb(t) as row`;
    const previous = new Map(stored.map(({ line, before }) => [line, before]));
    for (const { line, row } of changed) written.push({ before: previous.get(line)!, after: row });
  }
  return written;
}

/** Emits the events of written rows and raises their topics. */
export async function emitRows({ work, table }: Page, written: readonly WrittenRow[]): Promise<void> {
  const cards = table.card ? written.flatMap(({ after }) => (after[table.card!] as string | null) ?? []) : [];
  const found: { id: string; type: string }[] = await work
    .sql('cards')
    .whereIn('id', [...new Set(cards)])
    .select('id', 'type');
  const types = new Map(found.map(({ id, type }) => [id, type]));
  for (const { before, after } of written) {
    const event = importedEvent(table, before, after, types);
    if (event) work.emit(event);
  }
  for (const type of new Set(types.values())) work.raise(cardsTopic(type));
  if (written.length > 0) for (const topic of table.topics ?? []) work.raise(topic);
}

/** Writes the rows of a page with their events. */
export async function writePlain(page: Page, rows?: readonly PageRow[]): Promise<WrittenRow[]> {
  const written = await writeRows(page, rows ?? (await readPage(page)));
  await emitRows(page, written);
  return written;
}
