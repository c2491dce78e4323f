import { sqlState, violatedConstraint } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields, notFound } from '../../../platform/errors.ts';
import { cleanTranslations } from '../../inventory/metamodel/translations.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing, rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { DEFAULT_LANGUAGE } from '../../kernel/metamodel/languages.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { readEntry } from './catalogue.queries.ts';
import { CATALOGUES_TOPIC, type Catalogue } from './catalogue.types.ts';

/** Members of an entry as a client sends them. */
export type EntryInput = Record<string, unknown>;

/** Creates an entry. @throws EstateError `forbidden`, `validation_failed`, `key_taken`. */
export async function createEntry(
  ctx: Ctx,
  catalogue: Catalogue,
  input: EntryInput,
): Promise<{ id: string; text: JsonText }> {
  requirePermission(ctx.caller, 'admin.metamodel');
  const values = cleanEntry(input);
  return await guardKey(catalogue, () =>
    command(ctx, async (work) => {
      const row = await insertRow(work.sql, catalogue.model, values);
      emitEntry(work, catalogue, null, row);
      const id = row.id as string;
      return { id, text: await readEntry(work.sql, catalogue, id, DEFAULT_LANGUAGE) };
    }),
  );
}

/**
 * Changes an entry; unchanged values are not written.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, `precondition_failed`.
 */
export async function patchEntry(
  ctx: Ctx,
  catalogue: Catalogue,
  id: string,
  input: EntryInput,
  language: string,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.metamodel');
  const values = cleanEntry(input);
  return await command(ctx, async (work) => {
    const before = await lockEntry(work, ctx, catalogue, id, language);
    const changed = differing(before, values);
    if (Object.keys(changed).length > 0) {
      const after = await updateRow(work.sql, catalogue.model, { id }, changed);
      emitEntry(work, catalogue, before, after);
    }
    return await readEntry(work.sql, catalogue, id, language);
  });
}

/**
 * Deletes an entry that is not built in.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `built_in_frozen`.
 */
export async function deleteEntry(
  ctx: Ctx,
  catalogue: Catalogue,
  id: string,
  language: string,
): Promise<void> {
  requirePermission(ctx.caller, 'admin.metamodel');
  await command(ctx, async (work) => {
    const before = await lockEntry(work, ctx, catalogue, id, language);
    if (before.built_in === true) {
      throw new EstateError(
        'built_in_frozen',
        `A built-in ${catalogue.entity} cannot be deleted; disable it instead.`,
      );
    }
    await deleteRows(work.sql, catalogue.model, (query) => query.where({ id }));
    emitEntry(work, catalogue, before, null);
  });
}

async function lockEntry(
  work: Work,
  ctx: Ctx,
  catalogue: Catalogue,
  id: string,
  language: string,
): Promise<StoredRow> {
  const row = await lockRow(work.sql, catalogue.model, { id: id.toLowerCase() });
  if (!row) throw notFound(catalogue.entity, id);
  if (ctx.ifMatch) checkIfMatch(ctx, await readEntry(work.sql, catalogue, id, language));
  return row;
}

/** Emits the event of a written entry. */
export function emitEntry(
  work: Work,
  catalogue: Catalogue,
  before: StoredRow | null,
  after: StoredRow | null,
): void {
  const { events } = catalogue;
  const row = (after ?? before)!;
  work.emit({
    event_type: before === null ? events.created : after === null ? events.deleted : events.updated,
    data: { id: row.id, ...catalogue.names(row), changes: rowChanges(before, after) },
  });
  work.raise(CATALOGUES_TOPIC);
}

/** The input as it is stored: labels trimmed, translations by canonical languages. */
function cleanEntry(input: EntryInput): StoredRow {
  const faults: FieldError[] = [];
  const values: StoredRow = {};
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (key === 'translations') values[key] = cleanTranslations(key, value, [], faults);
    else if ((key === 'label' || key === 'title') && typeof value === 'string') values[key] = value.trim();
    // these columns are not nullable
    else if ((key === 'rationale' || key === 'implications') && value === null) values[key] = '';
    else values[key] = value;
  }
  if (faults.length > 0) throw invalidFields(faults);
  return values;
}

async function guardKey<T>(catalogue: Catalogue, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const clash = sqlState(error) === '23505' && violatedConstraint(error) === catalogue.uniqueKey;
    if (!clash || !catalogue.uniqueKey) throw error;
    throw new EstateError('key_taken', `There is already a ${catalogue.entity} with this key.`, {
      cause: error,
    });
  }
}
