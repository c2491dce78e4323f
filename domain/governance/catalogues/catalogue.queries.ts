import { queryRows, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import type { Catalogue } from './catalogue.types.ts';

export interface CatalogueFilter {
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
export async function readEntry(
  sql: Sql,
  catalogue: Catalogue,
  id: string,
  language: string,
): Promise<JsonText> {
  const { from, members } = catalogue.list(language);
  const item = projection(members, undefined);
  const [row] = await queryRows<{ item: JsonText }>(
    sql,
    `select ${item.sql}::text as item from ${from} where t.id = ?::uuid`,
    [...item.bindings, id],
  );
  if (!row) throw notFound(catalogue.entity, id);
  return row.item;
}

/** The languages to which entries are translated. */
export async function catalogueLanguages(sql: Sql, catalogue: Catalogue): Promise<Set<string>> {
  if (!catalogue.translated) return new Set();
  const rows = await queryRows<{ language: string }>(
    sql,
    `select distinct jsonb_object_keys(translations) as language from ${catalogue.model.tableName}`,
  );
  return new Set(rows.map(({ language }) => language));
}
