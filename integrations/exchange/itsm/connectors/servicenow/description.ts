import { RemoteError } from '../../remote.ts';
import type { Connector, RemoteColumn } from '../connector.ts';
import { byName } from '../responses.ts';
import { namesInFilter, type Reading, textOf, where } from './reading.ts';

/** Maximum levels of tables that extend each other. */
const DEPTH = 8;
const PAGE = 1_000;

const kinds: Record<string, RemoteColumn['kind']> = {
  string: 'text',
  integer: 'integer',
  longint: 'integer',
  count: 'integer',
  decimal: 'decimal',
  float: 'decimal',
  currency: 'decimal',
  currency2: 'decimal',
  price: 'decimal',
  percent_complete: 'decimal',
  boolean: 'boolean',
  glide_date: 'date',
  due_date: 'datetime',
  glide_date_time: 'datetime',
  reference: 'reference',
  GUID: 'text',
  sys_class_name: 'text',
  url: 'text',
  email: 'text',
  choice: 'text',
  html: 'text',
  translated_text: 'text',
  ph_number: 'text',
  ip_addr: 'text',
};

export interface Description
  extends Pick<
    Connector,
    'describeTables' | 'describeFields' | 'describeRelationTypes' | 'findUnknownColumns'
  > {
  /** The table and all tables that extend it. */
  familyOf(table: string): Promise<string[]>;
}

interface Rows {
  rows: Record<string, string>[];
  /** The count is higher than the number of rows: access controls hide some. */
  hasHiddenRows: boolean;
}

export function createDescription(reading: Pick<Reading, 'readPages'>): Description {
  const families = new Map<string, string[]>();

  /** All matching rows of a small table that the account may see. */
  const all = async (table: string, filter: string, fields: string[]): Promise<Rows> => {
    const visible: Rows = { rows: [], hasHiddenRows: false };
    for await (const page of reading.readPages({ table, fields, filter, limit: PAGE })) {
      for (const record of page.records) {
        const cells = Object.keys(record.fields).map((name) => [name, textOf(record, name)]);
        visible.rows.push({ ...Object.fromEntries(cells), sys_id: record.id });
      }
      visible.hasHiddenRows ||= page.hasHiddenRows;
    }
    return visible;
  };

  const parents = Array.from({ length: DEPTH }, (_, level) => `${'super_class.'.repeat(level + 1)}name`);

  const lineageOf = async (table: string, whole = false): Promise<string[]> => {
    const found = await all('sys_db_object', where('name', '=', table), ['name', ...parents]);
    const [row] = found.rows;
    if (!row && found.hasHiddenRows && whole) {
      const what = `The row of sys_db_object of table ${table} is hidden from the account`;
      throw new RemoteError('forbidden', `table ${table}`, what);
    }
    if (!row)
      throw new RemoteError('not_found', `table ${table}`, `The remote has no table ${table}, or hides it`);
    return [table, ...parents.map((path) => row[path] ?? '').filter((name) => name !== '')];
  };

  const describeFields: Description['describeFields'] = async (table, whole = false) => {
    const lineage = await lineageOf(table, whole);
    const ofTables = where('name', 'IN', lineage.join(','));
    const columns = await all('sys_dictionary', `${ofTables}^elementISNOTEMPTY^active=true`, [
      'name',
      'element',
      'column_label',
      'internal_type',
      'reference',
      'max_length',
      'mandatory',
    ]);
    const filter = `${ofTables}^inactive=false`;
    const choices = await all('sys_choice', filter, ['name', 'element', 'value', 'label']);
    if (whole && (columns.hasHiddenRows || choices.hasHiddenRows)) {
      const what = `Rows of the dictionary of ${table} are hidden from the account`;
      throw new RemoteError('forbidden', `table ${table}`, what);
    }
    // a derived table overrides the columns of the tables that it extends
    const depthOf = (name: string | undefined): number => lineage.indexOf(name ?? '');
    const byColumn = new Map<string, Record<string, string>>();
    for (const column of columns.rows) {
      const known = byColumn.get(column.element!);
      if (!known || depthOf(column.name) < depthOf(known.name)) byColumn.set(column.element!, column);
    }
    const described = [...byColumn.values()].map((column): RemoteColumn => {
      const own = choices.rows.filter(({ element }) => element === column.element);
      const deepest = Math.min(...own.map(({ name }) => depthOf(name)));
      return {
        name: column.element!,
        label: column.column_label || column.element!,
        kind: kinds[column.internal_type ?? ''] ?? 'other',
        remoteKind: column.internal_type ?? '',
        reference: column.reference || null,
        maxLength: Number(column.max_length) || null,
        mandatory: column.mandatory === 'true',
        ...(column.element!.startsWith('sys_') ? { readonly: true } : {}),
        choices: own
          .filter(({ name }) => depthOf(name) === deepest)
          .map(({ value, label }) => ({ value: value ?? '', label: label ?? '' }))
          .sort((a, b) => (a.value < b.value ? -1 : 1)),
      };
    });
    return described.sort(byName);
  };

  return {
    describeFields,
    async describeTables(search = '') {
      const text = search.trim();
      const condition =
        text === '' ? 'nameISNOTEMPTY' : `${where('name', 'LIKE', text)}^OR${where('label', 'LIKE', text)}`;
      const found = await all('sys_db_object', condition, ['name', 'label', 'super_class.name']);
      const tables = found.rows.map((row) => ({
        name: row.name ?? '',
        label: row.label || (row.name ?? ''),
        parent: row['super_class.name'] || null,
      }));
      return tables.sort(byName);
    },
    async describeRelationTypes() {
      const found = await all('cmdb_rel_type', '', ['name', 'parent_descriptor', 'child_descriptor']);
      const types = found.rows.map((row) => ({
        id: row.sys_id!,
        name: row.name ?? '',
        forward: row.parent_descriptor ?? '',
        reverse: row.child_descriptor ?? '',
      }));
      return types.sort(byName);
    },
    async findUnknownColumns(table, filter) {
      const names = namesInFilter(filter);
      if (names.length === 0) return [];
      const known = new Set((await describeFields(table)).map(({ name }) => name));
      // names after the first dot are columns of another table
      return names.filter((name) => !known.has(name.split('.')[0]!));
    },
    async familyOf(table) {
      const known = families.get(table);
      if (known) return known;
      const conditions = ['name', ...parents].map((path) => where(path, '=', table)).join('^OR');
      const found = await all('sys_db_object', conditions, ['name']);
      const family = [...new Set([table, ...found.rows.map(({ name }) => name ?? '')])];
      if (!found.hasHiddenRows) families.set(table, family);
      return family;
    },
  };
}
