import { embed, query } from '../../../platform/database.ts';
import { EstateError, type FieldError } from '../../../platform/errors.ts';
import type { Caller } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { skipMatching, skipRows } from './transfer.diff.ts';
import type { Reason } from './transfer.model.ts';
import type { Staging } from './transfer.stage.ts';
import { nestedRules } from './workspace.nested.data.ts';

/** A staged row that will be written. */
export interface StagedRow {
  line: number;
  content: StoredRow;
  /** Further columns that were asked for. */
  type: string | null;
  source: string | null;
  target: string | null;
}

/** What the rows of a kind are checked with. */
export interface Checking extends Staging {
  caller: Caller;
  /** The metamodel after the archive's own was written. */
  metamodel: Metamodel | undefined;
  /** The names of parts that were read completely. */
  read: Set<string>;
}

/** Rows of a page: few for kinds with large contents. */
const pageOf = (kind: string): number =>
  kind === 'process_contents' || kind === 'diagram_drawings' ? 5 : kind in nestedRules ? 100 : 1_000;

/** The rows of a table in the workspace and of the archive, as JSON. */
export async function knownRows<T>({ db, transferId }: Staging, table: string): Promise<T[]> {
  return await query(db).column<T>`select to_jsonb(t) from ${embed(table)} t
     union all
     select content from workspace_transfer_rows
     where transfer_id = ${transferId}::uuid and kind = ${table} and action in ('create', 'update')`;
}

/** Several errors as one reason. */
export const reasonOf = (errors: readonly FieldError[]): Reason => ({
  code: errors[0]!.code,
  field: errors[0]!.field,
  message: errors
    .slice(0, 3)
    .map(({ field, message }) => (field ? `${field} ${message}` : message))
    .join('; ')
    .slice(0, 500),
});

/**
 * Skips the rows of a kind, of those that would be written, that a check refuses.
 * @param more SQL of further columns, of `s` and its row `n`.
 */
export async function skipInvalid(
  checking: Checking,
  kind: string,
  check: (content: StoredRow, row: StagedRow) => FieldError[] | Promise<FieldError[]>,
  more = '',
): Promise<void> {
  const { db, transferId, signal } = checking;
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const rows = await query(db).rows<StagedRow>`select s.line, s.content ${embed(more)}
       from workspace_transfer_rows s
       where s.transfer_id = ${transferId}::uuid and s.kind = ${kind} and s.action in ('create', 'update')
         and s.line > ${after}
       order by s.line limit ${embed(pageOf(kind))}`;
    if (rows.length === 0) return;
    const invalid: ({ line: number } & Reason)[] = [];
    for (const row of rows) {
      const errors = await check(row.content, row);
      if (errors.length > 0) invalid.push({ line: row.line, ...reasonOf(errors) });
    }
    await skipRows(checking, kind, invalid);
    after = rows.at(-1)!.line;
  }
}

/** Skips rows whose text is too long, before it is parsed. */
export async function skipLong(staging: Staging, kind: string, column: string, most: number): Promise<void> {
  const reason = { code: 'too_long', field: column, message: `${column} has more than ${most} characters` };
  await skipMatching(staging, kind, reason)`where length(s.content ->> ${column}) > ${most}`;
}

/** The validation errors that a function throws. */
export async function errorsOf(read: () => unknown): Promise<FieldError[]> {
  try {
    await read();
    return [];
  } catch (error) {
    if (error instanceof EstateError && error.code === 'validation_failed' && error.errors?.length) {
      return error.errors;
    }
    throw error;
  }
}
