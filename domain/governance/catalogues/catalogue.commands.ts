import { embed, query, type Sql, unlessTaken } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields } from '../../../platform/errors.ts';
import { cleanTranslations, labelsIn } from '../../inventory/metamodel/metamodel.list.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers, rowEvent, type StoredRow } from '../../kernel/events/row-changes.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import type { Filters, JsonText, ListSpec, RequestList, SortField } from '../../kernel/lists/lists.types.ts';
import { DEFAULT_LANGUAGE } from '../../kernel/metamodel/languages.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockItem } from '../../kernel/resources/items.ts';
import { deleteRows, insertRow, type RowModel, updateRow } from '../../kernel/resources/rows.ts';
import { Choice, Flag } from '../../kernel/shapes.ts';
import { Principle, Regulation, ResourceType, resourceKinds } from './catalogues.model.ts';
import principlesCatalogue from './principles.json' with { type: 'json' };

/** A small list that administrators maintain, such as the link types: the rows of one table. */
export interface Catalogue {
  model: RowModel;
  /** The name of one entry in errors, such as `principle`. */
  entity: string;
  /** The name of one entry in events. */
  event: 'principle' | 'regulation' | 'resource_type';
  /** The members of an entry, over the alias `t`, labels in the language. */
  list(language: string): RequestList<Filters, ListSpec['members'], string>;
  /** The members of events that identify the entry, besides its id. */
  names(row: StoredRow): Record<string, unknown>;
  /** Whether its entries have keys, and labels that are translated. */
  translated: boolean;
}

/** The topic that every change of a catalogue raises. */
export const CATALOGUES_TOPIC = 'catalogues';

const principleSorts: Record<string, SortField> = {
  sort_order: { sql: 't.sort_order', type: 'numeric' },
  title: { sql: 'fold(t.title)', type: 'text' },
  created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
};

/** The principles against which architecture decisions are checked. */
export const principles: Catalogue = {
  model: Principle,
  entity: 'principle',
  event: 'principle',
  names: ({ title }) => ({ title }),
  translated: false,
  list: () => ({
    name: 'principles',
    from: 'principles t',
    id: 't.id',
    sorts: principleSorts,
    defaultSort: 'sort_order',
    search: `fold(t.title || ' ' || coalesce(t.description, ''))`,
    members: columnMembers('t', Principle),
  }),
};

/** The lists of labelled keys that can be disabled. */
function labelled(
  name: string,
  model: RowModel,
  language: string,
  filters?: Filters,
): ReturnType<Catalogue['list']> {
  const label = labelsIn(language).text('t', 'label');
  return {
    name,
    from: `${model.tableName} t`,
    id: 't.id',
    sorts: {
      sort_order: { sql: 't.sort_order', type: 'numeric' },
      label: { sql: `fold(${label})`, type: 'text' },
      key: { sql: 't.key', type: 'text', immutable: true },
    },
    defaultSort: 'sort_order',
    search: `fold(t.key || ' ' || ${label})`,
    filters: {
      enabled_only: [Flag('Without disabled ones'), 't.is_enabled'],
      ...filters,
    },
    members: { ...columnMembers('t', model), label },
  };
}

/** The regulations of compliance scans, which also read the descriptions. */
export const regulations: Catalogue = {
  model: Regulation,
  entity: 'regulation',
  event: 'regulation',
  names: ({ key }) => ({ key }),
  translated: true,
  list: (language) => labelled('compliance-regulations', Regulation, language),
};

const KindFilter = Choice(resourceKinds, 'Only link types, or only file categories');

/** Types of links and categories of files. */
export const resourceTypes: Catalogue = {
  model: ResourceType,
  entity: 'resource type',
  event: 'resource_type',
  names: ({ kind, key }) => ({ kind, key }),
  translated: true,
  list: (language) =>
    labelled('resource-types', ResourceType, language, { kind: [KindFilter, 't.kind = ?'] }),
};

/** One entry. @throws EstateError `not_found`. */
async function readEntry(sql: Sql, catalogue: Catalogue, id: string, language: string): Promise<JsonText> {
  return await readItem(sql, catalogue.list(language), catalogue.entity, id);
}

/** The languages to which entries are translated. */
export async function catalogueLanguages(sql: Sql, catalogue: Catalogue): Promise<Set<string>> {
  if (!catalogue.translated) return new Set();
  const rows = await query(sql).rows<{ language: string }>`
       select distinct jsonb_object_keys(translations) as language from ${embed(catalogue.model.tableName)}`;
  return new Set(rows.map(({ language }) => language));
}

/** Members of an entry as a client sends them. */
type EntryInput = Record<string, unknown>;

/** Creates an entry. @throws EstateError `forbidden`, `validation_failed`, `key_taken`. */
export async function createEntry(ctx: Ctx, catalogue: Catalogue, input: EntryInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.metamodel');
  const values = cleanEntry(input);
  return await command(ctx, async (work) => {
    const row = await unlessTaken(
      insertRow(work.sql, catalogue.model, values),
      () => new EstateError('key_taken', `There is already a ${catalogue.entity} with this key.`),
    );
    emitEntry(work, catalogue, null, row);
    return await readEntry(work.sql, catalogue, row.id as string, DEFAULT_LANGUAGE);
  });
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
      emitEntry(work, catalogue, before, await updateRow(work.sql, catalogue.model, { id }, changed));
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
      const detail = `A built-in ${catalogue.entity} cannot be deleted; disable it instead.`;
      throw new EstateError('built_in_frozen', detail);
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
function emitEntry(
  work: Work,
  catalogue: Catalogue,
  before: StoredRow | null,
  after: StoredRow | null,
): void {
  const row = (after ?? before)!;
  work.emit(rowEvent(catalogue.event, before, after, { id: row.id, ...catalogue.names(row) }));
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

/** The languages that the catalogue is written in besides English. */
export const principleLanguages: ReadonlySet<string> = new Set(['de']);

type CataloguePrinciple = (typeof principlesCatalogue.principles)[number];

const textsIn = ({ texts }: CataloguePrinciple, language: string) =>
  language.split('-')[0] === 'de' ? texts.de : texts.en;

/** The catalogue in a language, with the ids of imported principles. */
export async function readPrinciplesCatalogue(ctx: Ctx, language: string) {
  requirePermission(ctx.caller, 'admin.metamodel');
  const taken = await importedPrinciples(ctx.db);
  return {
    catalogue_version: principlesCatalogue.version,
    generated_at: principlesCatalogue.generatedAt,
    principles: principlesCatalogue.principles.map((principle) => ({
      id: principle.id,
      ...textsIn(principle, language),
      existing_principle_id: taken.get(principle.id) ?? null,
    })),
  };
}

/**
 * Imports principles in a language, after the existing ones; those that were imported before are not changed.
 * @throws EstateError `forbidden`, `validation_failed` naming unknown ids.
 */
export async function importPrinciples(ctx: Ctx, catalogueIds: readonly string[], language: string) {
  requirePermission(ctx.caller, 'admin.metamodel');
  const known = new Map(principlesCatalogue.principles.map((principle) => [principle.id, principle]));
  const errors: FieldError[] = catalogueIds.flatMap((id, n) =>
    known.has(id)
      ? []
      : [{ field: `catalogue_ids.${n}`, code: 'unknown_id', message: 'is not in the catalogue' }],
  );
  if (errors.length > 0) throw invalidFields(errors);
  return await command(ctx, async (work) => {
    // serialises imports
    await query(work.sql).run`select pg_advisory_xact_lock(hashtextextended('principles/catalogue', 0))`;
    const taken = await importedPrinciples(work.sql);
    const last = await work.sql('principles').max('sort_order as last').first();
    let order = Number(last?.last ?? 0);
    const wanted = [...new Set(catalogueIds)];
    let created = 0;
    for (const id of wanted) {
      if (taken.has(id)) continue;
      order += 10;
      const values = { ...textsIn(known.get(id)!, language), catalogue_id: id, sort_order: order };
      const row = await insertRow(work.sql, Principle, values);
      emitEntry(work, principles, null, row);
      taken.set(id, row.id);
      created += 1;
    }
    return { created, skipped: wanted.length - created, ids: wanted.map((id) => taken.get(id)!) };
  });
}

/** The imported principles by their ids in the catalogue. */
async function importedPrinciples(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql('principles')
    .whereNotNull('catalogue_id')
    .orderBy('created_at', 'desc')
    .select('id', 'catalogue_id');
  return new Map(rows.map((row: { id: string; catalogue_id: string }) => [row.catalogue_id, row.id]));
}
