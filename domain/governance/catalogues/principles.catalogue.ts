import { query, type Sql } from '../../../platform/database.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { insertRow } from '../../kernel/resources/rows.ts';
import { emitEntry } from './catalogue.commands.ts';
import { Principle } from './catalogues.model.ts';
import { principles } from './catalogues.ts';
import principlesCatalogue from './principles.json' with { type: 'json' };

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
