import { embed, query, type Sql, sqlState, violatedConstraint } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields } from '../../../platform/errors.ts';
import { cleanTranslations } from '../../inventory/metamodel/translations.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers, rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import { DEFAULT_LANGUAGE } from '../../kernel/metamodel/languages.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockItem } from '../../kernel/resources/items.ts';
import { deleteRows, insertRow, updateRow } from '../../kernel/resources/rows.ts';
import { CATALOGUES_TOPIC, type Catalogue } from './catalogues.ts';

interface CatalogueFilter {
  enabled_only?: boolean;
  kind?: string;
}

/** The entries in order, labels in the language. */
export async function listEntries(
  ctx: Ctx,
  catalogue: Catalogue,
  params: ListParams & CatalogueFilter,
  language: string,
): Promise<JsonText> {
  const conditions: Condition[] = [];
  if (params.enabled_only) conditions.push({ sql: 't.is_enabled', bindings: [] });
  if (params.kind !== undefined) conditions.push({ sql: 't.kind = ?', bindings: [params.kind] });
  return await runList(ctx.db, catalogue.list(language), conditions, params);
}

/** One entry. @throws EstateError `not_found`. */
async function readEntry(sql: Sql, catalogue: Catalogue, id: string, language: string): Promise<JsonText> {
  return await readItem(sql, catalogue.list(language), catalogue.entity, id);
}

/** The languages to which entries are translated. */
export async function catalogueLanguages(sql: Sql, catalogue: Catalogue): Promise<Set<string>> {
  if (!catalogue.translated) return new Set();
  const rows = await query(sql).rows<{
    language: string;
  }>`select distinct jsonb_object_keys(translations) as language from ${embed(catalogue.model.tableName)}`;
  return new Set(rows.map(({ language }) => language));
}

/** Members of an entry as a client sends them. */
type EntryInput = Record<string, unknown>;

/** Creates an entry. @throws EstateError `forbidden`, `validation_failed`, `key_taken`. */
export async function createEntry(ctx: Ctx, catalogue: Catalogue, input: EntryInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.metamodel');
  const values = cleanEntry(input);
  return await guardKey(catalogue, () =>
    command(ctx, async (work) => {
      const row = await insertRow(work.sql, catalogue.model, values);
      emitEntry(work, catalogue, null, row);
      return await readEntry(work.sql, catalogue, row.id as string, DEFAULT_LANGUAGE);
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
    const changed = differingMembers(before, values);
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
  const text = (of: string) => readEntry(work.sql, catalogue, of, language);
  return await lockItem(work, ctx, catalogue.model, { id }, catalogue.entity, text);
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
  const errors: FieldError[] = [];
  const values: StoredRow = {};
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (key === 'translations') values[key] = cleanTranslations(key, value, [], errors);
    else if ((key === 'label' || key === 'title') && typeof value === 'string') values[key] = value.trim();
    // these columns are not nullable
    else if ((key === 'rationale' || key === 'implications') && value === null) values[key] = '';
    else values[key] = value;
  }
  if (errors.length > 0) throw invalidFields(errors);
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
