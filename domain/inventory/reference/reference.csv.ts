import { parse } from 'csv-parse/sync';
import { invalidField } from '../../../platform/errors.ts';
import { restore } from '../../kernel/transfer/csv-cells.ts';
import type { GivenNode } from './reference.rules.ts';

/** Tables of cards, as they are imported and exported, are catalogues as well. */
const ofCards: Record<string, string> = { external_id: 'id', parent_external_id: 'parent_id' };
const COLUMN = /^(type|id|parent_id|industry|name|description|(name|description)\.[a-z]{2}(-[A-Z]{2})?)$/;

/**
 * The entries of a table with the columns `id`, `parent_id`, `industry`, `name` and `description`, these two also by
 * language as in `name.de`; those without a language are English. A table of cards has `external_id` and
 * `parent_external_id` instead, and `type`, which has to be that of the catalogue's cards.
 * @throws EstateError `validation_failed` for what is no such table.
 */
export function nodesOfCsv(text: string, cardType: string): GivenNode[] {
  let rows: Record<string, string>[];
  try {
    rows = parse(text, {
      bom: true,
      delimiter: [',', ';', '\t'],
      skip_empty_lines: true,
      columns: (given: string[]) => {
        const header = given.map((name) => (Object.hasOwn(ofCards, name) ? ofCards[name]! : name));
        const unknown = header.find((name) => !COLUMN.test(name));
        if (unknown !== undefined) throw new Error(`The column ${unknown.slice(0, 100)} is not known.`);
        if (new Set(header).size < header.length) throw new Error('A column stands there twice.');
        return header;
      },
      on_record: (row: Record<string, string>, { lines }) => {
        if (row.type && row.type !== cardType) {
          throw new Error(
            `Line ${lines}: the catalogue is one of ${cardType}, not of ${row.type.slice(0, 100)}.`,
          );
        }
        return row;
      },
      cast: (value, { header }) => (header ? value : restore(value)),
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
