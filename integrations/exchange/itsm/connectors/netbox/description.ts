import { RemoteError, withFallback } from '../../remote.ts';
import type { Connector, RemoteColumn, RemoteTable } from '../connector.ts';
import { byName, searchTables } from '../responses.ts';
import type { Api } from './api.ts';
import type { ObjectTypes } from './changes.ts';
import { belowApi, isReserved, isTable, parametersOf, type Row } from './records.ts';

/** Number of objects from which the kinds of columns are derived. */
const SAMPLE = 50;
const CUSTOM_FIELDS = 500;

/** Kinds of columns, as endpoints and custom fields name them. */
const kinds: Record<string, RemoteColumn['kind']> = {
  string: 'text',
  slug: 'text',
  email: 'text',
  url: 'text',
  regex: 'text',
  choice: 'text',
  text: 'text',
  longtext: 'text',
  select: 'text',
  list: 'text',
  multiselect: 'text',
  multiobject: 'text',
  integer: 'integer',
  float: 'decimal',
  decimal: 'decimal',
  boolean: 'boolean',
  date: 'date',
  datetime: 'datetime',
  object: 'reference',
};

export interface Description
  extends Pick<Connector, 'describeTables' | 'describeFields' | 'findUnknownColumns'> {
  /** Columns by name, read once. */
  columns(table: string): Promise<Map<string, RemoteColumn>>;
}

export function createDescription(api: Api, types: ObjectTypes): Description {
  const known = new Map<string, Map<string, RemoteColumn>>();
  let parameters: Map<string, Set<string>> | undefined;

  const describeFields = async (table: string): Promise<RemoteColumn[]> => {
    const { actions } = (await api.options(table)) as { actions?: Record<string, Record<string, Row>> };
    const doing = `Reading the columns of ${table}`;
    const sample = await api.list(table, { exclude: 'config_context' }, { limit: SAMPLE, doing });
    const custom = await customFields(table);
    // described only to accounts that may write
    const writable = actions?.POST ?? actions?.PUT ?? {};
    const columns = new Map<string, RemoteColumn>();
    for (const [name, description] of Object.entries(writable)) {
      if (name !== 'custom_fields') columns.set(name, writableColumn(name, description));
    }
    const addValue = (name: string, value: unknown) =>
      columns.set(name, refineColumn(columns.get(name) ?? emptyColumn(name), value));
    for (const row of sample.rows) {
      const { custom_fields: inner, ...own } = row;
      for (const [name, value] of Object.entries(own)) addValue(name, value);
      for (const [name, value] of Object.entries((inner ?? {}) as Row))
        addValue(`custom_fields.${name}`, value);
    }
    for (const column of custom) {
      const derived = columns.get(column.name);
      columns.set(column.name, { ...column, reference: derived?.reference ?? column.reference });
    }
    return [...columns.values()].sort(byName);
  };

  /** The custom fields of a table, if the account may see their definitions. */
  const customFields = (table: string): Promise<RemoteColumn[]> =>
    withFallback(readCustomFields(table), ['forbidden', 'not_found'], []);

  const readCustomFields = async (table: string): Promise<RemoteColumn[]> => {
    const type = await types.typeOf(table);
    const options = { limit: CUSTOM_FIELDS, doing: `Reading the custom fields of ${table}` };
    const { rows } = await api.list('extras/custom-fields', { ordering: 'id' }, options);
    return rows
      .filter(({ object_types: now, content_types: before }) =>
        [now, before].some((list) => Array.isArray(list) && list.includes(type)),
      )
      .map(customColumn);
  };

  const readParameters = async (): Promise<Map<string, Set<string>>> => {
    const schema = await api.document('schema/?format=json', 'Reading the API description');
    const read = new Map<string, Set<string>>();
    const paths = (schema.paths ?? {}) as Record<string, { get?: { parameters?: Row[] } }>;
    for (const [path, { get }] of Object.entries(paths)) {
      const table = belowApi(path);
      if (table === undefined || table.includes('{') || !get) continue;
      const names = (get.parameters ?? [])
        .filter((one) => one.in === 'query')
        .map(({ name }) => String(name));
      read.set(table, new Set(names));
    }
    return read;
  };

  return {
    describeFields,
    async columns(table) {
      const before = known.get(table);
      if (before) return before;
      const described = await describeFields(table);
      const columns = new Map(described.map((column) => [column.name, column]));
      known.set(table, columns);
      return columns;
    },
    async describeTables(search = '') {
      const tables: RemoteTable[] = [];
      // the root lists the apps, each app its endpoints; plugins are one level deeper
      const walk = async (path: string, depth: number): Promise<void> => {
        const listing = api.document(path === '' ? '' : `${path}/`, 'Listing the endpoints');
        const addresses =
          path === '' ? await listing : await withFallback(listing, ['forbidden', 'not_found'], {});
        for (const address of Object.values(addresses)) {
          const below = belowApi(address);
          if (below === undefined || !below.startsWith(path) || below === path) continue;
          const inPlugins = below === 'plugins' || path === 'plugins';
          if (depth < 1 || (inPlugins && depth < 2)) await walk(below, depth + 1);
          else if (isTable(below)) tables.push({ name: below, label: labelOf(below), parent: null });
        }
      };
      await walk('', 0);
      return searchTables(tables, search);
    },
    async findUnknownColumns(table, filter) {
      const names = [...new Set(parametersOf(filter).keys())];
      const unknown = names.filter(isReserved);
      const custom = names.filter((name) => name.startsWith('cf_'));
      const plain = names.filter((name) => !isReserved(name) && !name.startsWith('cf_'));
      if (plain.length > 0) {
        parameters ??= await readParameters();
        const available = parameters.get(table);
        if (!available)
          throw new RemoteError('not_found', `table ${table}`, `NetBox describes no filters of ${table}`);
        unknown.push(...plain.filter((name) => !available.has(name)));
      }
      if (custom.length > 0) {
        const columns = await describeFields(table);
        const existing = new Set(columns.map(({ name }) => name));
        unknown.push(
          ...custom.filter((name) => !existing.has(`custom_fields.${name.slice(3).split('__')[0]}`)),
        );
      }
      return names.filter((name) => unknown.includes(name));
    },
  };
}

const emptyColumn = (name: string): RemoteColumn => ({
  name,
  label: labelOf(name),
  kind: 'other',
  remoteKind: '',
  reference: null,
  maxLength: null,
  mandatory: false,
  choices: [],
});

/** A column as an endpoint describes it to accounts that may write. */
function writableColumn(name: string, description: Row): RemoteColumn {
  const type = String(description.type ?? '');
  const choices = Array.isArray(description.choices) ? (description.choices as Row[]) : [];
  return {
    ...emptyColumn(name),
    label: typeof description.label === 'string' ? description.label : labelOf(name),
    kind: choices.length > 0 ? 'text' : type === 'nested object' ? 'reference' : (kinds[type] ?? 'other'),
    remoteKind: type,
    maxLength: typeof description.max_length === 'number' ? description.max_length : null,
    mandatory: description.required === true,
    choices: choices.map(({ value, display_name: label }) => ({
      value: String(value ?? ''),
      label: String(label ?? value ?? ''),
    })),
  };
}

/** Derives the kind and reference of a column from one of its values. */
function refineColumn(column: RemoteColumn, value: unknown): RemoteColumn {
  if (value === null || value === undefined) return column;
  const withKind = (kind: RemoteColumn['kind']): RemoteColumn =>
    column.kind === 'other' ? { ...column, kind } : column;
  if (Array.isArray(value)) return { ...column, kind: 'text' };
  switch (typeof value) {
    case 'boolean':
      return withKind('boolean');
    case 'number':
      return withKind(Number.isInteger(value) ? 'integer' : 'decimal');
    case 'string':
      return withKind('text');
  }
  const { url, value: choice, label } = value as Row;
  const target = belowApi(url);
  if (target !== undefined) return { ...column, kind: 'reference', reference: target.replace(/\/\d+$/, '') };
  if (choice !== undefined && label !== undefined)
    return { ...column, kind: typeof choice === 'number' ? 'integer' : 'text' };
  return column;
}

function customColumn(row: Row): RemoteColumn {
  const type = String((row.type as { value?: unknown } | null)?.value ?? row.type ?? '');
  return {
    ...emptyColumn(`custom_fields.${String(row.name)}`),
    label: typeof row.label === 'string' && row.label !== '' ? row.label : String(row.name),
    kind: kinds[type] ?? 'other',
    remoteKind: type,
    mandatory: row.required === true,
  };
}

/** `Virtual machines` for `virtualization/virtual-machines`. */
function labelOf(name: string): string {
  const words = (name.split(/[/.]/).at(-1) ?? name).replaceAll(/[-_]/g, ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
