import { type Row, type Store, schema, timestampOf } from './store.ts';

/** An object as the API shows it. */
export function render(store: Store, base: string, table: string, row: Row): Record<string, unknown> {
  const shown: Record<string, unknown> = {
    id: row.id,
    url: `${base}/api/${table}/${row.id}/`,
    display: row.name ?? `#${row.id}`,
  };
  for (const [name, column] of Object.entries(schema[table]!.columns)) {
    const value = row[name];
    switch (column.type) {
      case 'reference':
        shown[name] = nested(store, base, column.target!, value);
        break;
      case 'choice':
        shown[name] = value === null ? null : { value, label: column.choices![value as string] };
        break;
      case 'tags':
        shown[name] = (value as { slug: string }[]).map(({ slug }, at) => ({
          id: at + 1,
          url: `${base}/api/extras/tags/${at + 1}/`,
          display: slug,
          name: slug,
          slug,
          color: '9e9e9e',
        }));
        break;
      case 'json':
        shown[name] = (value as { table: string; id: number }[]).map((one) => terminated(store, base, one));
        break;
      default:
        shown[name] = value;
    }
  }
  return {
    ...shown,
    custom_fields: row.custom_fields,
    created: timestampOf(row.at),
    last_updated: timestampOf(row.at),
  };
}

function nested(store: Store, base: string, table: string, id: unknown): unknown {
  const row = store.tables.get(table)?.get(id as number);
  if (!row) return null;
  const { name, slug } = row;
  return {
    id,
    url: `${base}/api/${table}/${String(id)}/`,
    display: name,
    name,
    ...(slug === undefined ? {} : { slug }),
  };
}

/** An end of a cable: an interface with its device. */
function terminated(store: Store, base: string, { table, id }: { table: string; id: number }): unknown {
  const object = {
    ...(nested(store, base, table, id) as object),
    device: nested(store, base, 'dcim/devices', store.tables.get(table)!.get(id)!.device),
  };
  return { object_type: schema[table]!.name, object_id: id, object };
}
