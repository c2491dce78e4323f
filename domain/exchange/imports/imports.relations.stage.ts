import type { Sql } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import { validateRelationInput } from '../../inventory/relations/relations.rules.ts';
import type { RelationInput } from '../../inventory/relations/relations.types.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { ImportRow } from './imports.row.ts';

/** A row of `import_relation_rows`. */
export interface StagedRelation {
  line: number;
  type: string | null;
  id: string | null;
  source_id: string | null;
  source_external_id: string | null;
  target_id: string | null;
  target_external_id: string | null;
  errors: FieldError[] | null;
  bytes: number;
  /** Null for a row that has failed. */
  payload: RelationInput | null;
}

/** Turns rows as read into rows as staged: everything is checked that does not depend on cards and relations. */
export async function stageRelations(
  ctx: Ctx,
  sql: Sql,
  rows: ImportRow<'relations'>[],
): Promise<StagedRelation[]> {
  const types = await typesOfIds(sql, rows);
  const visible = new Set(ctx.metamodel.visibleRelationTypes);
  return rows.map(({ line, values, errors: read }) => {
    const errors = [...read];
    const key = values.type ?? (values.id ? types.get(values.id) : undefined) ?? null;
    const type = key !== null && visible.has(key) ? ctx.metamodel.relationTypes.get(key) : undefined;
    const input: RelationInput = {};
    if (values.description !== undefined) input.description = values.description;
    if (values.attributes !== undefined) input.attributes = values.attributes;
    if (type) {
      for (const fault of validateRelationInput(type, input)) errors.push(fault);
    } else if (key !== null) {
      errors.push({ field: 'type', code: 'unknown_type', message: 'is no relation type' });
    } else if (values.id && !errors.some(({ field }) => field === 'type')) {
      errors.push({ field: 'id', code: 'unknown_id', message: 'is no relation' });
    }
    return {
      line,
      type: key,
      id: values.id ?? null,
      source_id: values.source_id ?? null,
      source_external_id: values.source_external_id ?? null,
      target_id: values.target_id ?? null,
      target_external_id: values.target_external_id ?? null,
      errors: errors.length > 0 ? errors : null,
      bytes: JSON.stringify(input).length,
      payload: errors.length > 0 ? null : input,
    };
  });
}

async function typesOfIds(sql: Sql, rows: ImportRow<'relations'>[]): Promise<Map<string, string>> {
  const ids = rows.flatMap(({ values }) => (values.id && values.type === undefined ? [values.id] : []));
  if (ids.length === 0) return new Map();
  const found: { id: string; type: string }[] = await sql('relations')
    .whereIn('id', ids)
    .select('id', 'type');
  return new Map(found.map(({ id, type }) => [id, type]));
}
