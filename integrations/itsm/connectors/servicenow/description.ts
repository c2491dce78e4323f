import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteColumn, RemoteRelationType, RemoteTable } from '../connector.ts';
import { namesInFilter, where } from './query.ts';
import type { Reading } from './reading.ts';

/** How deep tables extend each other at most, as far as is asked. */
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

export interface Description {
  describeTables(search?: string): Promise<Result<RemoteTable[]>>;
  describeFields(table: string, whole?: boolean): Promise<Result<RemoteColumn[]>>;
  describeRelationTypes(): Promise<Result<RemoteRelationType[]>>;
  unknownInFilter(table: string, filter: string): Promise<Result<string[]>>;
  /** The table and all that extend it. */
  familyOf(table: string): Promise<Result<string[]>>;
}

interface Rows {
  rows: Record<string, string>[];
  /** The count says that there are more: access controls keep some from the account. */
  withheld: boolean;
}

export function createDescription(reading: Pick<Reading, 'readPage'>): Description {
  const families = new Map<string, string[]>();

  /** All rows of a small table that fit, as far as the account sees them. */
  const all = async (table: string, filter: string, fields: string[]): Promise<Result<Rows>> => {
    const found: Rows = { rows: [], withheld: false };
    let cursor: string | null = null;
    do {
      const page = await reading.readPage(
        { table, fields, filter, limit: PAGE, cursor, display: false },
        true,
      );
      if (!page.ok) return page;
      for (const { id, fields: shown } of page.value.records) {
        const cells = Object.entries(shown).map(([name, { value }]) => [name, String(value ?? '')]);
        found.rows.push({ ...Object.fromEntries(cells), sys_id: id });
      }
      found.withheld ||= page.value.withheld;
      cursor = page.value.next;
    } while (cursor !== null);
    return done(found);
  };

  const parents = Array.from({ length: DEPTH }, (_, level) => `${'super_class.'.repeat(level + 1)}name`);

  const lineageOf = async (table: string, whole = false): Promise<Result<string[]>> => {
    const found = await all('sys_db_object', where('name', '=', table), ['name', ...parents]);
    if (!found.ok) return found;
    const [row] = found.value.rows;
    if (!row && found.value.withheld && whole) {
      const what = `The remote has a table ${table}, and keeps its row of sys_db_object from the account`;
      return failed('forbidden', `table ${table}`, what);
    }
    if (!row) return failed('not_found', `table ${table}`, `The remote shows no table ${table}`);
    return done([table, ...parents.map((path) => row[path] ?? '').filter((name) => name !== '')]);
  };

  const describeFields: Description['describeFields'] = async (table, whole = false) => {
    const lineage = await lineageOf(table, whole);
    if (!lineage.ok) return lineage;
    const about = where('name', 'IN', lineage.value.join(','));
    const columns = await all('sys_dictionary', `${about}^elementISNOTEMPTY^active=true`, [
      'name',
      'element',
      'column_label',
      'internal_type',
      'reference',
      'max_length',
      'mandatory',
    ]);
    if (!columns.ok) return columns;
    const choices = await all('sys_choice', `${about}^inactive=false`, ['name', 'element', 'value', 'label']);
    if (!choices.ok) return choices;
    if (whole && (columns.value.withheld || choices.value.withheld)) {
      const what = `The remote keeps rows of its dictionary about ${table} from the account`;
      return failed('forbidden', `table ${table}`, what);
    }
    // the nearest table decides, where a column is described again
    const nearness = (name: string | undefined): number => lineage.value.indexOf(name ?? '');
    const byName = new Map<string, Record<string, string>>();
    for (const column of columns.value.rows) {
      const known = byName.get(column.element!);
      if (!known || nearness(column.name) < nearness(known.name)) byName.set(column.element!, column);
    }
    const described = [...byName.values()].map((column): RemoteColumn => {
      const own = choices.value.rows.filter(({ element }) => element === column.element);
      const nearest = Math.min(...own.map(({ name }) => nearness(name)));
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
          .filter(({ name }) => nearness(name) === nearest)
          .map(({ value, label }) => ({ value: value ?? '', label: label ?? '' }))
          .sort((a, b) => (a.value < b.value ? -1 : 1)),
      };
    });
    return done(described.sort((a, b) => (a.name < b.name ? -1 : 1)));
  };

  return {
    describeFields,
    async describeTables(search = '') {
      const text = search.trim();
      const fits =
        text === '' ? 'nameISNOTEMPTY' : `${where('name', 'LIKE', text)}^OR${where('label', 'LIKE', text)}`;
      const found = await all('sys_db_object', fits, ['name', 'label', 'super_class.name']);
      if (!found.ok) return found;
      const tables = found.value.rows.map((row) => ({
        name: row.name ?? '',
        label: row.label || (row.name ?? ''),
        parent: row['super_class.name'] || null,
      }));
      return done(tables.sort((a, b) => (a.name < b.name ? -1 : 1)));
    },
    async describeRelationTypes() {
      const found = await all('cmdb_rel_type', '', ['name', 'parent_descriptor', 'child_descriptor']);
      if (!found.ok) return found;
      const types = found.value.rows.map((row) => ({
        id: row.sys_id!,
        name: row.name ?? '',
        forward: row.parent_descriptor ?? '',
        reverse: row.child_descriptor ?? '',
      }));
      return done(types.sort((a, b) => (a.name < b.name ? -1 : 1)));
    },
    async unknownInFilter(table, filter) {
      const names = namesInFilter(filter);
      if (names.length === 0) return done([]);
      const fields = await describeFields(table);
      if (!fields.ok) return fields;
      const known = new Set(fields.value.map(({ name }) => name));
      // beyond the first point another table decides
      return done(names.filter((name) => !known.has(name.split('.')[0]!)));
    },
    async familyOf(table) {
      const known = families.get(table);
      if (known) return done(known);
      const conditions = ['name', ...parents].map((path) => where(path, '=', table)).join('^OR');
      const found = await all('sys_db_object', conditions, ['name']);
      if (!found.ok) return found;
      const family = [...new Set([table, ...found.value.rows.map(({ name }) => name ?? '')])];
      if (!found.value.withheld) families.set(table, family);
      return done(family);
    },
  };
}
