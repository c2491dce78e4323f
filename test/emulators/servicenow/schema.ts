import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A column as the dictionary describes it. */
export interface FieldSchema {
  name: string;
  label: string;
  /** Internal type, such as string, integer, boolean, glide_date_time, glide_date, reference, choice. */
  type: string;
  /** The table that a reference leads to. */
  reference?: string;
  maxLength?: number;
  mandatory?: boolean;
  /** Value and label of each choice. */
  choices?: Record<string, string>;
}

export interface TableSchema {
  name: string;
  label: string;
  parent?: string;
  /** The column whose value is shown for a reference to a row. */
  display?: string;
  fields: FieldSchema[];
  /** Columns by which identification rules find a row of the class. */
  identifiers?: string[];
  /** Deletes leave no row in sys_audit_delete (dictionary attribute no_audit_delete). */
  unaudited?: boolean;
}

const declared: { systemFields: FieldSchema[]; tables: TableSchema[] } = parse(
  readFileSync(new URL('./schema.yaml', import.meta.url), 'utf8'),
);

/** Columns that every table has. */
export const { systemFields } = declared;

/** The tables of an instance out of the box, as far as they are emulated; each instance changes its own. */
export const baseSchema = (): TableSchema[] => structuredClone(declared.tables);
