import type { FieldError } from '../../../platform/errors.ts';
import { parentFields } from './imports.fields.ts';
import type { ImportKind, ImportRow } from './imports.row.ts';

/** A row during parsing. */
export interface Draft {
  line: number;
  values: Record<string, unknown>;
  clears: string[];
  errors: FieldError[];
}

/** A row without values. */
export function newDraft(line: number): Draft {
  return { line, values: {}, clears: [], errors: [] };
}

/** Sets a lifecycle phase or an attribute, or clears it with null. */
export function setMember(row: Draft, part: 'lifecycle' | 'attributes', key: string, value: unknown): void {
  row.values[part] ??= {};
  (row.values[part] as Record<string, unknown>)[key] = value;
  if (value === null) row.clears.push(`${part}.${key}`);
}

/** Clears a field. */
export function clearField(row: Draft, field: string): void {
  row.values[field] = null;
  row.clears.push(field);
}

/** The type of the row's card or relation, if it is known. */
export function typeOf(row: Draft): string | undefined {
  return row.values.type as string | undefined;
}

/**
 * The parsed row.
 * @param noParent whether the row clears the parent.
 */
export function finishRow<K extends ImportKind>(row: Draft, kind: K, noParent: boolean): ImportRow<K> {
  const hasError = (...fields: string[]) => row.errors.some(({ field }) => fields.includes(field));
  const given = (...fields: string[]) =>
    fields.some((field) => row.values[field] !== undefined) || hasError(...fields);
  if (noParent && !given(...parentFields)) clearField(row, 'parent_id');
  const need = (...fields: string[]) => {
    if (given(...fields)) return;
    row.errors.push({ field: fields[0]!, code: 'required', message: 'is needed in a row without an id' });
  };
  if (!given('id')) {
    need('type');
    if (kind === 'relations') {
      need('source_external_id', 'source_id');
      need('target_external_id', 'target_id');
    }
  }
  return { line: row.line, kind, values: row.values, clears: row.clears, errors: row.errors };
}

/** A row that could not be parsed. */
export function failedRow<K extends ImportKind>(line: number, kind: K, error: FieldError): ImportRow<K> {
  return { line, kind, values: {}, clears: [], errors: [error] };
}
