import type { Sql } from '../../../platform/database.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { insertRow } from '../../kernel/events/stored-rows.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { tellEntry } from './catalogue.commands.ts';
import { principles } from './catalogues.ts';
import { principlesCatalogue } from './principles.data.ts';
import type { CataloguePrinciple, PrincipleTexts } from './principles.types.ts';

/** The languages that the catalogue is written in besides English. */
export const principleLanguages: ReadonlySet<string> = new Set(['de']);

const textsIn = ({ texts }: CataloguePrinciple, language: string): PrincipleTexts =>
  language.split('-')[0] === 'de' ? texts.de : texts.en;

/** The catalogue in a language, with the principles that the workspace has taken over. */
export async function readPrinciplesCatalogue(ctx: Ctx, language: string) {
  requirePermission(ctx.caller, 'admin.metamodel');
  const taken = await takenOver(ctx.db);
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

/** What an import of principles has done. */
export interface ImportedPrinciples {
  created: number;
  /** Those that the workspace had. */
  skipped: number;
  /** The principles in the order of the request. */
  ids: string[];
}

/**
 * Takes principles over, in a language, behind those that there are; what was taken over before stays as it is.
 * @throws EstateError `forbidden`, `validation_failed` naming unknown ids.
 */
export async function importPrinciples(
  ctx: Ctx,
  catalogueIds: readonly string[],
  language: string,
): Promise<ImportedPrinciples> {
  requirePermission(ctx.caller, 'admin.metamodel');
  const known = new Map(principlesCatalogue.principles.map((principle) => [principle.id, principle]));
  const faults: FieldError[] = catalogueIds.flatMap((id, n) =>
    known.has(id)
      ? []
      : [{ field: `catalogue_ids.${n}`, code: 'unknown_id', message: 'is not in the catalogue' }],
  );
  if (faults.length > 0) throw invalidFields(faults);
  return await command(ctx, async (work) => {
    // two that import the same wait for each other
    await work.sql.raw("select pg_advisory_xact_lock(hashtextextended('principles/catalogue', 0))");
    const taken = await takenOver(work.sql);
    const last = await work.sql('principles').max('sort_order as last').first();
    let order = Number(last?.last ?? 0);
    const wanted = [...new Set(catalogueIds)];
    let created = 0;
    for (const id of wanted) {
      if (taken.has(id)) continue;
      order += 10;
      const values = { ...textsIn(known.get(id)!, language), catalogue_id: id, sort_order: order };
      const row = await insertRow(work.sql, principles.table, values);
      tellEntry(work, principles, null, row);
      taken.set(id, row.id as string);
      created += 1;
    }
    return { created, skipped: wanted.length - created, ids: wanted.map((id) => taken.get(id)!) };
  });
}

/** The workspace's principles by their ids in the catalogue. */
async function takenOver(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql('principles')
    .whereNotNull('catalogue_id')
    .orderBy('created_at', 'desc')
    .select('id', 'catalogue_id');
  return new Map(rows.map((row: { id: string; catalogue_id: string }) => [row.catalogue_id, row.id]));
}
