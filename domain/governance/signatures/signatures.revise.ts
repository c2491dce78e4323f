import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { insertRecord, lockRecord, recordText } from './signatures.records.ts';
import { requireAction } from './signatures.rules.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

/**
 * Writes the next revision of a signed document, as a draft with the same content. There is one after each.
 * @param copied the columns that it takes over; `carried` takes over what hangs on it.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function reviseRecord<Row extends SignedRow>(
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
  copied: (row: Row) => StoredRow,
  carried: (work: Work, from: Row, to: Row) => Promise<void> = async () => {},
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.manage);
  return await command(ctx, async (work) => {
    const row = await lockRecord(work, ctx, kind, id);
    requireAction('revise', row.status);
    // two that revise the same wait for each other at the row above; the series tells of those that came later
    const later = await work
      .sql(kind.model.tableName)
      .where({ series_id: row.series_id })
      .where('revision_number', '>', row.revision_number)
      .orderBy('revision_number', 'desc')
      .first('id', 'revision_number');
    if (later) {
      throw new EstateError('wrong_state', `There is a later revision already: ${later.revision_number}.`, {
        extra: { state: row.status, latest_id: later.id },
      });
    }
    const made = await insertRecord(work, ctx, kind, {
      ...copied(row),
      series_id: row.series_id,
      parent_id: row.id,
      revision_number: row.revision_number + 1,
    });
    await carried(work, row, made);
    return await recordText(work.sql, ctx, kind, made.id);
  });
}

/** One member that differs; members of objects by their path. */
export interface FieldDifference {
  field: string;
  old: unknown;
  new: unknown;
}

/**
 * What differs between two contents: text by text, and lists as a whole where they hold texts or nothing.
 * @param old,now as {@link SignedKind.contentOf} tells them.
 */
export function differencesOf(
  old: Record<string, unknown>,
  now: Record<string, unknown>,
  path = '',
): FieldDifference[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names.flatMap((name): FieldDifference[] => {
    const [before, after] = [old[name] ?? null, now[name] ?? null];
    if (JSON.stringify(before) === JSON.stringify(after)) return [];
    const field = path === '' ? name : `${path}.${name}`;
    if (isObject(before) && isObject(after)) return differencesOf(before, after, field);
    return [{ field, old: before, new: after }];
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Two revisions of one document and what differs. */
export interface RevisionComparison {
  from: { id: string; revision_number: number; status: string };
  to: { id: string; revision_number: number; status: string };
  changes: FieldDifference[];
}

/**
 * Compares a revision with another of the same document, by default the one before it; from the older to the newer.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed` for a document that is no revision of it.
 */
export async function compareRevisions<Row extends SignedRow>(
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
  withId?: string,
): Promise<RevisionComparison> {
  requirePermission(ctx.caller, kind.rights.view);
  const read = async (wanted: string): Promise<Row | undefined> => {
    const [found] = await findRows(ctx.db, kind.model, (query) => query.where({ id: wanted }));
    return found as Row | undefined;
  };
  const one = await read(id);
  if (!one) throw notFound(kind.entity, id);
  const otherId = withId ?? one.parent_id;
  if (otherId === null) throw invalidField('with', 'required', 'must name a revision: none comes before it');
  const other = await read(otherId);
  if (!other || other.series_id !== one.series_id) {
    throw invalidField('with', 'unknown_revision', 'is no revision of the same document');
  }
  const [from, to] = other.revision_number > one.revision_number ? [one, other] : [other, one];
  const named = ({ id: revision, revision_number, status }: Row) => ({
    id: revision,
    revision_number,
    status,
  });
  const changes = differencesOf(kind.contentOf(from), kind.contentOf(to)).filter(
    ({ field }) => field !== 'revision_number',
  );
  return { from: named(from), to: named(to), changes };
}
