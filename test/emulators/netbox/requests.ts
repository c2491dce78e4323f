import type { Response } from '../http.ts';
import type { NetBox } from './instance.ts';
import { filtered, filterNames, ordered } from './query.ts';
import { render } from './render.ts';
import { type ObjectType, type Row, schema, timestampOf } from './store.ts';

interface Asked {
  method: string;
  /** Below `/api/`, without slashes around it. */
  path: string;
  query: URLSearchParams;
  body: string;
  ifMatch: string | undefined;
}

const detail = (status: number, text: string): Response => ({ status, body: { detail: text } });
const noRight = detail(403, 'You do not have permission to perform this action.');
const nothing = detail(404, 'Not found.');

const later = (version: string, major: number, minor: number): boolean => {
  const [own = 0, part = 0] = version.split('.').map(Number);
  return own > major || (own === major && part >= minor);
};

/** Answers what nothing has gone wrong with. */
export function serve(netbox: NetBox, asked: Asked): Response {
  const { path } = asked;
  if (path === '' || Object.keys(schema).some((table) => table.startsWith(`${path}/`)))
    return listing(netbox, path);
  if (path === 'schema') return described();
  const changes = later(netbox.version, 4, 1) ? 'core/object-changes' : 'extras/object-changes';
  if (path === changes) return listed(netbox, asked, path, netbox.store.log, showChange);
  const types = later(netbox.version, 4, 4) ? 'core/object-types' : 'extras/content-types';
  if (path === types) return listed(netbox, asked, '', objectTypes(), (row) => showType(netbox, row));
  if (path === 'extras/custom-fields') {
    const rows = netbox.store.customFields as unknown as Row[];
    return listed(netbox, asked, path, rows, ({ type, ...row }) => ({ ...row, type: { value: type } }));
  }
  const [, table = '', key] = /^(.+?)(?:\/(\d+))?$/.exec(path) ?? [];
  if (!schema[table]) return nothing;
  return key === undefined ? onTable(netbox, asked, table) : onObject(netbox, asked, table, Number(key));
}

function onTable(netbox: NetBox, asked: Asked, table: string): Response {
  const { store } = netbox;
  switch (asked.method) {
    case 'OPTIONS':
      return { status: 200, body: { name: table, actions: actionsOf(netbox, table) } };
    case 'POST': {
      if (!netbox.may(table, 'add')) return noRight;
      const values = JSON.parse(asked.body) as Record<string, unknown>;
      const faults = faultsOf(netbox, table, values, true);
      if (faults) return { status: 400, body: faults };
      return { ...shown(netbox, asked, table, store.insert(table, values, 'estate')), status: 201 };
    }
    default: {
      const rows = store.rows(table).filter((row) => !netbox.hides(table, row));
      return listed(netbox, asked, table, rows, (row) => render(store, netbox.base, table, row));
    }
  }
}

function onObject(netbox: NetBox, asked: Asked, table: string, id: number): Response {
  const { store } = netbox;
  const row = store.tables.get(table)!.get(id);
  const action = { GET: 'view', PATCH: 'change', DELETE: 'delete' }[asked.method] ?? '';
  if (!netbox.may(table, action)) return noRight;
  if (!row || netbox.hides(table, row)) return nothing;
  if (action === 'view') return shown(netbox, asked, table, row);
  if (later(netbox.version, 4, 6) && asked.ifMatch !== undefined && asked.ifMatch !== etagOf(row))
    return detail(412, 'The object has been modified since it was last retrieved.');
  if (action === 'delete') {
    const user = Object.entries(schema).find(([other, { columns }]) =>
      Object.entries(columns).some(
        ([name, { target, required }]) =>
          required && target === table && store.rows(other).some((one) => one[name] === id),
      ),
    );
    if (user) return detail(409, 'Unable to delete object. 1 dependent objects were found');
    store.remove(table, id, 'estate');
    return { status: 204 };
  }
  const values = JSON.parse(asked.body) as Record<string, unknown>;
  const faults = faultsOf(netbox, table, values, false);
  if (faults) return { status: 400, body: faults };
  return shown(netbox, asked, table, store.update(table, id, values, 'estate'));
}

const etagOf = (row: Row): string => `W/"${timestampOf(row.at).replace('Z', '+00:00')}"`;

function shown(netbox: NetBox, asked: Asked, table: string, row: Row): Response {
  const body = projected(render(netbox.store, netbox.base, table, row), asked.query);
  const headers: Record<string, string> = later(netbox.version, 4, 6) ? { etag: etagOf(row) } : {};
  return { status: 200, headers, body };
}

function projected(row: Record<string, unknown>, query: URLSearchParams): Record<string, unknown> {
  const fields = query.get('fields')?.split(',');
  return fields ? Object.fromEntries(Object.entries(row).filter(([name]) => fields.includes(name))) : row;
}

function listed(
  netbox: NetBox,
  { query }: Asked,
  table: string,
  all: Row[],
  show: (row: Row) => Record<string, unknown>,
): Response {
  if (table !== '' && !netbox.may(table, 'view')) return noRight;
  const type: ObjectType | undefined = schema[table];
  const references = Object.entries(type?.columns ?? {}).filter(([, { target }]) => target);
  const known = type
    ? filterNames(
        Object.keys(type.columns),
        references.map(([name]) => name),
      )
    : ['id__gt', 'action', 'changed_object_type', 'changed_object_id', 'time_after'];
  const slugs = Object.fromEntries(
    references.map(([name, { target }]) => [
      name,
      (id: unknown) => netbox.store.tables.get(target!)!.get(id as number)?.slug as string | undefined,
    ]),
  );
  const custom = type ? netbox.store.fieldsOf(table).map(({ name }) => name) : [];
  let rows = filtered(all, query, known, slugs, custom);
  const limit = Math.min(Number(query.get('limit') ?? 50), netbox.maxPageSize);
  const start = later(netbox.version, 4, 6) ? query.get('start') : null;
  let offset = Number(query.get('offset') ?? 0);
  if (start === null) rows = ordered(rows, query.get('ordering'));
  else {
    if (query.has('ordering'))
      return detail(400, 'Ordering cannot be specified in conjunction with cursor-based pagination.');
    rows = ordered(rows, 'id').filter(({ id }) => id >= Number(start));
    offset = 0;
  }
  const page = rows.slice(offset, offset + limit);
  const more = start === null ? offset + limit < rows.length : page.length === limit;
  return {
    status: 200,
    body: {
      count: start === null ? rows.length : null,
      next: more ? `${netbox.base}/api/${table}/?limit=${limit}` : null,
      previous: null,
      results: page.map((row) => projected(show(row), query)),
    },
  };
}

function faultsOf(
  { store }: NetBox,
  table: string,
  values: Record<string, unknown>,
  whole: boolean,
): Record<string, string[]> | undefined {
  const faults: Record<string, string[]> = {};
  for (const [name, column] of Object.entries(schema[table]!.columns)) {
    const value = values[name];
    if (value === undefined) {
      if (whole && column.required) faults[name] = ['This field is required.'];
    } else if (value === null && (column.required || column.type === 'string'))
      faults[name] = ['This field may not be null.'];
    else if (column.target && value !== null && !store.tables.get(column.target)!.has(value as number))
      faults[name] = [`Related object not found using the provided numeric ID: ${String(value)}`];
    else if (column.choices && value !== null && !(String(value) in column.choices))
      faults[name] = [`${String(value)} is not a valid choice.`];
    else if (column.maxLength && String(value).length > column.maxLength)
      faults[name] = [`Ensure this field has no more than ${column.maxLength} characters.`];
  }
  const custom = Object.keys((values.custom_fields ?? {}) as object);
  const known = store.fieldsOf(table).map(({ name }) => name);
  const strange = custom.find((name) => !known.includes(name));
  if (strange) faults.custom_fields = [`Custom field '${strange}' does not exist for this object type.`];
  return Object.keys(faults).length > 0 ? faults : undefined;
}

function actionsOf(netbox: NetBox, table: string): Record<string, unknown> {
  const fields = Object.fromEntries(
    Object.entries(schema[table]!.columns).map(([name, column]) => [
      name,
      {
        type:
          { reference: 'nested object', choice: 'field', tags: 'field', json: 'field' }[
            column.type as string
          ] ?? column.type,
        required: column.required === true,
        read_only: false,
        label: name.charAt(0).toUpperCase() + name.slice(1),
        ...(column.maxLength ? { max_length: column.maxLength } : {}),
        ...(column.choices
          ? {
              choices: Object.entries(column.choices).map(([value, label]) => ({
                value,
                display_name: label,
              })),
            }
          : {}),
      },
    ]),
  );
  return {
    ...(netbox.may(table, 'add') ? { POST: fields } : {}),
    ...(netbox.may(table, 'change') ? { PUT: fields } : {}),
  };
}

/** The apps, the endpoints of one, or those of a plugin. */
function listing({ base }: NetBox, path: string): Response {
  const under = path === '' ? '' : `${path}/`;
  const parts = new Set(
    Object.keys(schema)
      .filter((table) => table.startsWith(under))
      .map((table) => table.slice(under.length).split('/')[0]!),
  );
  const addresses = [...parts].map((part) => [part, `${base}/api/${under}${part}/`]);
  if (path === '') addresses.push(['status', `${base}/api/status/`]);
  return { status: 200, body: Object.fromEntries(addresses) };
}

function described(): Response {
  const paths = Object.entries(schema).map(([table, { columns }]) => {
    const references = Object.keys(columns).filter((name) => columns[name]!.target);
    const names = filterNames(Object.keys(columns), references);
    return [`/api/${table}/`, { get: { parameters: names.map((name) => ({ in: 'query', name })) } }];
  });
  return { status: 200, body: { openapi: '3.0.3', paths: Object.fromEntries(paths) } };
}

const objectTypes = (): Row[] =>
  Object.entries(schema).map(([table, { name }], at) => ({ id: at + 1, table, name }));

function showType({ version }: NetBox, { id, table, name }: Row): Record<string, unknown> {
  const [app, model] = String(name).split('.');
  return {
    id,
    app_label: app,
    model,
    ...(later(version, 4, 4) ? { rest_api_endpoint: `/api/${String(table)}/` } : {}),
  };
}

const showChange = ({ at, action, ...row }: Row): Record<string, unknown> => ({
  ...row,
  time: timestampOf(at),
  action: { value: action, label: String(action) },
});
