import type { Response } from '../http.ts';
import { failure, malformed, type Request, readObject, textsOf } from './http.ts';
import { type Instance, write } from './instance.ts';
import type { Row } from './store.ts';
import type { Account } from './users.ts';

/** POST /api/now/import/{stagingTableName} */
export function importCall(instance: Instance, account: Account, request: Request, staging: string) {
  const set = instance.importSets[staging];
  if (request.method !== 'POST') return failure(405, 'Method not supported', null);
  if (!set) return failure(400, `Invalid table ${staging}`, null);
  if (!account.roles.has('import_set_loader') && !account.roles.has('admin'))
    return failure(403, 'User Not Authorized', 'Failed API level ACL Validation');
  const body = readObject(request.body);
  if (!body) return malformed;
  const values = textsOf(body);
  const { store } = instance;
  const answer = (status: string, more: Record<string, string>): Response => ({
    status: 201,
    body: {
      import_set: `ISET${String(instance.writes.length).padStart(7, '0')}`,
      staging_table: staging,
      result: [{ transform_map: set.map, table: set.target, status, ...more }],
    },
  });
  const lacking = set.mandatory?.find((name) => !values[name]);
  if (lacking !== undefined) return answer('error', { error_message: `${lacking} is mandatory` });
  if (set.ignores?.includes(values.name ?? ''))
    return answer('ignored', { status_message: 'Row transform ignored by onBefore script' });
  const empty = set.coalesce.find((name) => !values[name]);
  if (empty !== undefined) return answer('error', { error_message: `Coalesce field ${empty} is empty` });
  const [known, another] = store
    .of(set.target)
    .filter((row) => set.coalesce.every((name) => row.values[name] === values[name]));
  if (another) return answer('error', { error_message: 'Multiple target records found' });
  const isChanged = known && write.update(instance, known, values, account.userName);
  const row = known ?? write.insert(instance, set.target, values, account.userName);
  const id = row.values.sys_id!;
  return answer(known ? (isChanged ? 'updated' : 'ignored') : 'inserted', {
    display_name: 'name',
    display_value: store.displayOf(row),
    record_link: `${instance.base}/api/now/table/${set.target}/${id}`,
    sys_id: id,
  });
}

interface Item {
  className: string;
  values: Record<string, unknown>;
  sys_object_source_info?: { source_name?: string; source_native_key?: string };
}

interface Outcome {
  className: string;
  operation: string;
  sysId: string;
  inputIndices?: number[];
  errors?: { error: string; message: string }[];
  errorCount?: number;
}

/** POST /api/now/identifyreconcile */
export function reconcileCall(instance: Instance, account: Account, request: Request): Response {
  if (request.method !== 'POST') return failure(405, 'Method not supported', null);
  if (!['itil', 'asset', 'admin'].some((role) => account.roles.has(role)))
    return failure(403, 'User Not Authorized', 'Failed API level ACL Validation');
  const payload = readObject(request.body) as { items?: Item[] } | undefined;
  if (!payload) return malformed;
  const items = (payload.items ?? []).map((item, index) => ({
    ...identify(instance, account, item, request.query.get('sysparm_data_source') ?? ''),
    inputIndices: [index],
  }));
  return { status: 200, body: { result: { items, hasError: items.some(({ errors }) => errors) } } };
}

const faulty = (className: string, error: string, message: string): Outcome => ({
  className,
  operation: 'NO_CHANGE',
  sysId: 'Unknown',
  errors: [{ error, message }],
  errorCount: 1,
});

function identify(instance: Instance, account: Account, item: Item, source: string): Outcome {
  const { store } = instance;
  if (!store.tables.has(item.className) || !store.instanceOf(item.className, 'cmdb'))
    return faulty(item.className, 'INVALID_INPUT_DATA', `Invalid className [${item.className}]`);
  const values: Record<string, string> = { discovery_source: source, ...textsOf(item.values ?? {}) };
  const native = item.sys_object_source_info;
  const known = native?.source_native_key
    ? bySource(instance, native.source_name ?? source, native.source_native_key)
    : undefined;
  let rows: Row[] = known && store.instanceOf(known.table, item.className) ? [known] : [];
  if (rows.length === 0) {
    const identifiers = store
      .lineage(item.className)
      .map((name) => store.tables.get(name)!.identifiers)
      .find((one) => one !== undefined)!;
    // rules are tried in their order: the first whose attribute is given and found decides
    const given = identifiers.filter((name) => values[name]);
    if (given.length === 0)
      return faulty(
        item.className,
        'MISSING_MATCHING_ATTRIBUTES',
        `In payload missing minimum set of input values for criterion (matching) attributes from identify rule for table [${item.className}]`,
      );
    for (const name of given) {
      rows = store.of(item.className).filter((row) => row.values[name] === values[name]);
      if (rows.length > 0) break;
    }
  }
  if (rows.length > 1)
    return faulty(
      item.className,
      'MULTIPLE_DUPLICATE_RECORDS',
      'Found duplicate records matching the identification rule',
    );
  let [row] = rows;
  let operation = 'INSERT';
  if (row) operation = write.update(instance, row, values, account.userName) ? 'UPDATE' : 'NO_CHANGE';
  else row = write.insert(instance, item.className, values, account.userName);
  if (native?.source_native_key)
    remember(instance, row, native.source_name ?? source, native.source_native_key);
  return { className: item.className, operation, sysId: row.values.sys_id! };
}

function bySource(instance: Instance, name: string, id: string): Row | undefined {
  const known = instance.store
    .of('sys_object_source')
    .find(({ values }) => values.name === name && values.id === id);
  return known && instance.store.rows.get(known.values.target_sys_id!);
}

function remember(instance: Instance, row: Row, name: string, id: string): void {
  if (bySource(instance, name, id) === row) return;
  const values = { name, id, target_table: row.table, target_sys_id: row.values.sys_id! };
  instance.store.insert('sys_object_source', values, 'system');
}
