import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteColumn, RemoteTable } from '../connector.ts';
import type { Api } from './api.ts';
import { isOurs, parametersOf } from './filters.ts';
import { belowApi, isTable } from './ids.ts';
import type { ObjectTypes } from './object-types.ts';
import type { Row } from './records.ts';

/** Objects that are looked at for what the columns hold. */
const SAMPLE = 50;
const CUSTOM_FIELDS = 500;

/** Kinds as the endpoints tell them, and those of custom fields. */
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

export interface Description {
  describeTables(search?: string): Promise<Result<RemoteTable[]>>;
  describeFields(table: string): Promise<Result<RemoteColumn[]>>;
  unknownInFilter(table: string, filter: string): Promise<Result<string[]>>;
  /** Columns by name, read once; empty for a table that tells nothing. */
  columns(table: string): Promise<Result<Map<string, RemoteColumn>>>;
}

export function createDescription(api: Api, types: ObjectTypes): Description {
  const known = new Map<string, Map<string, RemoteColumn>>();
  let parameters: Map<string, Set<string>> | undefined;

  const describeFields = async (table: string): Promise<Result<RemoteColumn[]>> => {
    const offered = await api.options(table);
    if (!offered.ok) return offered;
    const sample = await api.list(
      table,
      (pageSize) => new URLSearchParams({ limit: String(pageSize), exclude: 'config_context' }),
      SAMPLE,
      `Looking at the columns of ${table}`,
    );
    if (!sample.ok) return sample;
    const custom = await customFields(table);
    if (!custom.ok) return custom;
    const actions = (offered.value.actions ?? {}) as Record<string, Record<string, Row> | undefined>;
    // only shown to those who may write
    const told = actions.POST ?? actions.PUT ?? {};
    const columns = new Map<string, RemoteColumn>();
    for (const [name, about] of Object.entries(told)) {
      if (name !== 'custom_fields') columns.set(name, toldColumn(name, about));
    }
    for (const row of sample.value.rows) {
      for (const [name, value] of Object.entries(row)) {
        if (name !== 'custom_fields') {
          columns.set(name, seenColumn(columns.get(name) ?? emptyColumn(name), value));
          continue;
        }
        for (const [inner, held] of Object.entries((value ?? {}) as Row)) {
          const path = `custom_fields.${inner}`;
          columns.set(path, seenColumn(columns.get(path) ?? emptyColumn(path), held));
        }
      }
    }
    for (const column of custom.value) {
      const seen = columns.get(column.name);
      columns.set(column.name, { ...column, reference: seen?.reference ?? column.reference });
    }
    return done([...columns.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));
  };

  /** The custom fields of a table, as far as the account may see how they are set up. */
  const customFields = async (table: string): Promise<Result<RemoteColumn[]>> => {
    const type = await types.typeOf(table);
    if (!type.ok) return unlessHidden(type, []);
    const listed = await api.list(
      'extras/custom-fields',
      (pageSize) => new URLSearchParams({ limit: String(pageSize), ordering: 'id' }),
      CUSTOM_FIELDS,
      `Reading the custom fields of ${table}`,
    );
    if (!listed.ok) return unlessHidden(listed, []);
    return done(
      listed.value.rows
        .filter(({ object_types: now, content_types: before }) =>
          [now, before].some((list) => Array.isArray(list) && list.includes(type.value)),
        )
        .map(customColumn),
    );
  };

  const readParameters = async (): Promise<Result<Map<string, Set<string>>>> => {
    const schema = await api.document('schema/?format=json', 'Reading which filters there are');
    if (!schema.ok) return schema;
    const read = new Map<string, Set<string>>();
    const paths = (schema.value.paths ?? {}) as Record<string, { get?: { parameters?: Row[] } }>;
    for (const [path, { get }] of Object.entries(paths)) {
      const table = belowApi(path);
      if (table === undefined || table.includes('{') || !get) continue;
      const names = (get.parameters ?? [])
        .filter((one) => one.in === 'query')
        .map(({ name }) => String(name));
      read.set(table, new Set(names));
    }
    return done(read);
  };

  return {
    describeFields,
    async columns(table) {
      const before = known.get(table);
      if (before) return done(before);
      const described = await describeFields(table);
      if (!described.ok) return described;
      const columns = new Map(described.value.map((column) => [column.name, column]));
      known.set(table, columns);
      return done(columns);
    },
    async describeTables(search = '') {
      const tables: RemoteTable[] = [];
      // the root lists the apps, each app its endpoints; plugins lie one level deeper
      const walk = async (path: string, depth: number): Promise<Result<null>> => {
        const listing = await api.document(path === '' ? '' : `${path}/`, 'Listing the endpoints');
        if (!listing.ok) {
          const { code } = listing.failure;
          return path !== '' && (code === 'forbidden' || code === 'not_found') ? done(null) : listing;
        }
        for (const address of Object.values(listing.value)) {
          const below = belowApi(address);
          if (below === undefined || !below.startsWith(path) || below === path) continue;
          const inPlugins = below === 'plugins' || path === 'plugins';
          if (depth < 1 || (inPlugins && depth < 2)) {
            const deeper = await walk(below, depth + 1);
            if (!deeper.ok) return deeper;
          } else if (isTable(below)) tables.push({ name: below, label: labelOf(below), parent: null });
        }
        return done(null);
      };
      const walked = await walk('', 0);
      if (!walked.ok) return walked;
      const text = search.trim().toLowerCase();
      return done(
        tables
          .filter(({ name, label }) => `${name} ${label}`.toLowerCase().includes(text))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
    },
    async unknownInFilter(table, filter) {
      const names = [...new Set(parametersOf(filter).keys())];
      const wrong = names.filter(isOurs);
      const custom = names.filter((name) => name.startsWith('cf_'));
      const plain = names.filter((name) => !isOurs(name) && !name.startsWith('cf_'));
      if (plain.length > 0) {
        if (!parameters) {
          const read = await readParameters();
          if (!read.ok) return read;
          parameters = read.value;
        }
        const offered = parameters.get(table);
        if (!offered) return failed('not_found', `table ${table}`, `NetBox describes no filters of ${table}`);
        wrong.push(...plain.filter((name) => !offered.has(name)));
      }
      if (custom.length > 0) {
        const columns = await describeFields(table);
        if (!columns.ok) return columns;
        const there = new Set(columns.value.map(({ name }) => name));
        wrong.push(...custom.filter((name) => !there.has(`custom_fields.${name.slice(3).split('__')[0]}`)));
      }
      return done(names.filter((name) => wrong.includes(name)));
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

/** A column as an endpoint tells it to those who may write. */
function toldColumn(name: string, about: Row): RemoteColumn {
  const type = String(about.type ?? '');
  const choices = Array.isArray(about.choices) ? (about.choices as Row[]) : [];
  return {
    ...emptyColumn(name),
    label: typeof about.label === 'string' ? about.label : labelOf(name),
    kind: choices.length > 0 ? 'text' : type === 'nested object' ? 'reference' : (kinds[type] ?? 'other'),
    remoteKind: type,
    maxLength: typeof about.max_length === 'number' ? about.max_length : null,
    mandatory: about.required === true,
    choices: choices.map(({ value, display_name: label }) => ({
      value: String(value ?? ''),
      label: String(label ?? value ?? ''),
    })),
  };
}

/** What a value tells of its column. */
function seenColumn(column: RemoteColumn, value: unknown): RemoteColumn {
  if (value === null || value === undefined) return column;
  const seen = (kind: RemoteColumn['kind']): RemoteColumn =>
    column.kind === 'other' ? { ...column, kind } : column;
  if (Array.isArray(value)) return { ...column, kind: 'text' };
  switch (typeof value) {
    case 'boolean':
      return seen('boolean');
    case 'number':
      return seen(Number.isInteger(value) ? 'integer' : 'decimal');
    case 'string':
      return seen('text');
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
  const name = `custom_fields.${String(row.name)}`;
  return {
    ...emptyColumn(name),
    label: typeof row.label === 'string' && row.label !== '' ? row.label : String(row.name),
    kind: kinds[type] ?? 'other',
    remoteKind: type,
    mandatory: row.required === true,
  };
}

/** `virtual-machines` as people write it. */
function labelOf(name: string): string {
  const words = (name.split(/[/.]/).at(-1) ?? name).replaceAll(/[-_]/g, ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function unlessHidden<T>(result: Result<unknown> & { ok: false }, instead: T): Result<T> {
  const { code } = result.failure;
  return code === 'forbidden' || code === 'not_found' ? done(instead) : result;
}
