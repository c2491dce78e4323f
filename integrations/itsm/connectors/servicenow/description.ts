import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteColumn, RemoteRelationType, RemoteTable } from '../connector.ts';
import type { Transport } from '../transport.ts';
import { namesInFilter, where } from './query.ts';

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
  describeFields(table: string): Promise<Result<RemoteColumn[]>>;
  describeRelationTypes(): Promise<Result<RemoteRelationType[]>>;
  unknownInFilter(table: string, filter: string): Promise<Result<string[]>>;
  /** The table and all that extend it. */
  familyOf(table: string): Promise<Result<string[]>>;
}

export function createDescription(transport: Transport): Description {
  const families = new Map<string, string[]>();

  /** All rows of a small table that fit. */
  const all = async (
    table: string,
    conditions: string,
    fields: string[],
  ): Promise<Result<Record<string, string>[]>> => {
    const rows: Record<string, string>[] = [];
    for (let after = ''; ; ) {
      const beyond = after === '' ? [] : [where('sys_id', '>', after)];
      const answer = await transport.send({
        method: 'GET',
        path: `/api/now/v2/table/${table}`,
        doing: `Reading ${table}`,
        pageSize: PAGE,
        query: (pageSize) => ({
          sysparm_query: [conditions, ...beyond, 'ORDERBYsys_id'].filter((part) => part !== '').join('^'),
          sysparm_fields: ['sys_id', ...fields].join(','),
          sysparm_limit: String(pageSize),
          sysparm_exclude_reference_link: 'true',
          sysparm_no_count: 'true',
        }),
      });
      if (!answer.ok) return answer;
      const page = Array.isArray(answer.value.result)
        ? (answer.value.result as Record<string, string>[])
        : [];
      rows.push(...page);
      const last = page.at(-1)?.sys_id;
      if (page.length < answer.value.pageSize || !last) return done(rows);
      if (last <= after)
        return failed('paging_ignored', `table ${table}`, `Reading ${table} does not get on`);
      after = last;
    }
  };

  const parents = Array.from({ length: DEPTH }, (_, level) => `${'super_class.'.repeat(level + 1)}name`);

  const lineageOf = async (table: string): Promise<Result<string[]>> => {
    const found = await all('sys_db_object', where('name', '=', table), ['name', ...parents]);
    if (!found.ok) return found;
    const [row] = found.value;
    if (!row) return failed('not_found', `table ${table}`, `The remote shows no table ${table}`);
    return done([table, ...parents.map((path) => row[path] ?? '').filter((name) => name !== '')]);
  };

  const describeFields = async (table: string): Promise<Result<RemoteColumn[]>> => {
    const lineage = await lineageOf(table);
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
    // the nearest table decides, where a column is described again
    const nearness = (name: string | undefined): number => lineage.value.indexOf(name ?? '');
    const byName = new Map<string, Record<string, string>>();
    for (const column of columns.value) {
      const known = byName.get(column.element!);
      if (!known || nearness(column.name) < nearness(known.name)) byName.set(column.element!, column);
    }
    const described = [...byName.values()].map((column): RemoteColumn => {
      const own = choices.value.filter(({ element }) => element === column.element);
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
      const tables = found.value.map((row) => ({
        name: row.name ?? '',
        label: row.label || (row.name ?? ''),
        parent: row['super_class.name'] || null,
      }));
      return done(tables.sort((a, b) => (a.name < b.name ? -1 : 1)));
    },
    async describeRelationTypes() {
      const found = await all('cmdb_rel_type', '', ['name', 'parent_descriptor', 'child_descriptor']);
      if (!found.ok) return found;
      const types = found.value.map((row) => ({
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
      const family = [...new Set([table, ...found.value.map(({ name }) => name ?? '')])];
      families.set(table, family);
      return done(family);
    },
  };
}
