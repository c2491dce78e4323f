import { parse } from 'csv-parse/sync';
import { invalidField } from '../../platform/errors.ts';
import type { GivenNode } from './reference.rules.ts';

const COLUMN = /^(id|parent_id|industry|name|description|(name|description)\.[a-z]{2}(-[A-Z]{2})?)$/;

/**
 * The entries of a table with the columns `id`, `parent_id`, `industry`, `name` and `description`, these two also by
 * language as in `name.de`; those without a language are English.
 * @throws EstateError `validation_failed` for what is no such table.
 */
export function nodesOfCsv(text: string): GivenNode[] {
  let rows: Record<string, string>[];
  try {
    rows = parse(text, {
      bom: true,
      delimiter: [',', ';', '\t'],
      skip_empty_lines: true,
      columns: (header: string[]) => {
        const unknown = header.find((name) => !COLUMN.test(name));
        if (unknown !== undefined) throw new Error(`The column ${unknown.slice(0, 100)} is not known.`);
        if (new Set(header).size < header.length) throw new Error('A column stands there twice.');
        return header;
      },
    });
  } catch (error) {
    throw invalidField('csv', 'bad_csv', error instanceof Error ? error.message : 'cannot be read');
  }
  return rows.map((row) => ({
    id: row.id ?? '',
    parent_id: row.parent_id || null,
    names: byLanguage(row, 'name'),
    descriptions: byLanguage(row, 'description'),
    ...(row.industry ? { industry: row.industry } : {}),
  }));
}

function byLanguage(row: Record<string, string>, member: 'name' | 'description'): Record<string, string> {
  return Object.fromEntries(
    Object.entries(row).flatMap(([column, value]) => {
      const [name, language = 'en'] = column.split('.');
      return name === member && value !== '' ? [[language, value]] : [];
    }),
  );
}
