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

/** Converts a parsed row to a staged row. @param types the types of relations that rows identify by id only. */
export function stageRelation(
  ctx: Ctx,
  { line, values, errors: read }: ImportRow<'relations'>,
  types: ReadonlyMap<string, string>,
): StagedRelation {
  const errors = [...read];
  const key = typeOfRow(values, types);
  const isVisible = key !== null && ctx.metamodel.visibleRelationTypes.includes(key);
  const type = isVisible ? ctx.metamodel.relationTypes.get(key) : undefined;
  const input: RelationInput = {};
  if (values.description !== undefined) input.description = values.description;
  if (values.attributes !== undefined) input.attributes = values.attributes;
  if (type) errors.push(...validateRelationInput(type, input));
  else errors.push(...typeErrors(key, values, errors, 'relation'));
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
}

/** The type that a row names, or that the card or relation with its id has. */
export function typeOfRow(
  { type, id }: { type?: string; id?: string },
  types: ReadonlyMap<string, string>,
): string | null {
  return type ?? (id ? types.get(id) : undefined) ?? null;
}

/** Why the type of a row is not valid, unless parsing has reported that already. */
export function typeErrors(
  key: string | null,
  { id }: { id?: string },
  read: readonly FieldError[],
  noun: 'card' | 'relation',
): FieldError[] {
  if (key !== null) return [{ field: 'type', code: 'unknown_type', message: `is no ${noun} type` }];
  const isReported = !id || read.some(({ field }) => field === 'type');
  return isReported ? [] : [{ field: 'id', code: 'unknown_id', message: `is no ${noun}` }];
}
