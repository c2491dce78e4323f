import { type Answer, failure, type Request } from './http.ts';
import { type Instance, write } from './instance.ts';
import type { Row } from './store.ts';
import type { Account } from './users.ts';

interface Item {
  className: string;
  values: Record<string, unknown>;
  internal_id?: string;
  sys_object_source_info?: { source_name?: string; source_native_key?: string };
}

interface Relation {
  parent: number;
  child: number;
  type: string;
}

interface Outcome {
  className: string;
  operation: string;
  sysId: string;
  inputIndices?: number[];
  errors?: { error: string; message: string }[];
  errorCount?: number;
}

/** POST /api/now/identifyreconcile, and /query, which only tells what would be done. */
export function reconcileCall(instance: Instance, account: Account, request: Request): Answer {
  if (request.method !== 'POST') return failure(405, 'Method not supported', null);
  if (!['itil', 'asset', 'admin'].some((role) => account.roles.has(role))) {
    return failure(403, 'User Not Authorized', 'Failed API level ACL Validation');
  }
  let payload: { items?: Item[]; relations?: Relation[] };
  try {
    payload = JSON.parse(request.body);
  } catch {
    return failure(400, 'Exception while reading request', 'The payload is not valid JSON.');
  }
  const dry = request.path.endsWith('/query');
  const source = request.query.get('sysparm_data_source') ?? '';
  const items = (payload.items ?? []).map((item, index) => ({
    ...identify(instance, account, item, source, dry),
    inputIndices: [index],
  }));
  const relations = (payload.relations ?? []).map((relation) =>
    relate(instance, account, relation, items, dry),
  );
  return {
    status: 200,
    body: {
      result: {
        items,
        relations,
        additionalCommittedItems: [],
        hasError: [...items, ...relations].some(({ errors }) => errors),
      },
    },
  };
}

const faulty = (className: string, error: string, message: string): Outcome => ({
  className,
  operation: 'NO_CHANGE',
  sysId: 'Unknown',
  errors: [{ error, message }],
  errorCount: 1,
});

function identify(instance: Instance, account: Account, item: Item, source: string, dry: boolean): Outcome {
  const { store } = instance;
  if (!store.tables.has(item.className) || !store.instanceOf(item.className, 'cmdb')) {
    return faulty(item.className, 'INVALID_INPUT_DATA', `Invalid className [${item.className}]`);
  }
  const values: Record<string, string> = { discovery_source: source };
  for (const [name, value] of Object.entries(item.values ?? {}))
    values[name] = value === null ? '' : String(value);
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
    if (given.length === 0) {
      return faulty(
        item.className,
        'MISSING_MATCHING_ATTRIBUTES',
        `In payload missing minimum set of input values for criterion (matching) attributes from identify rule for table [${item.className}]`,
      );
    }
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
  if (row) {
    const differs = Object.entries(values).some(
      ([name, value]) => store.fields(row!.table).has(name) && (row!.values[name] ?? '') !== value,
    );
    operation = differs ? 'UPDATE' : 'NO_CHANGE';
    if (!dry) write.update(instance, row, values, account.userName);
  } else if (!dry) row = write.insert(instance, item.className, values, account.userName);
  if (row && !dry && native?.source_native_key)
    remember(instance, row, native.source_name ?? source, native.source_native_key);
  return { className: item.className, operation, sysId: row?.values.sys_id ?? 'Unknown' };
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

function relate(
  instance: Instance,
  account: Account,
  relation: Relation,
  items: Outcome[],
  dry: boolean,
): Outcome {
  const { store } = instance;
  const [parent, child] = [items[relation.parent]?.sysId, items[relation.child]?.sysId];
  const type = store.of('cmdb_rel_type').find(({ values }) => values.name === relation.type)?.values.sys_id;
  if (!type)
    return faulty('cmdb_rel_ci', 'INVALID_INPUT_DATA', `Invalid relationship type [${relation.type}]`);
  if (!parent || !child || parent === 'Unknown' || child === 'Unknown')
    return faulty('cmdb_rel_ci', 'ABANDONED', 'Too many other errors');
  const known = store
    .of('cmdb_rel_ci')
    .find(({ values }) => values.parent === parent && values.child === child && values.type === type);
  if (known) return { className: 'cmdb_rel_ci', operation: 'NO_CHANGE', sysId: known.values.sys_id! };
  const row = dry
    ? undefined
    : write.insert(instance, 'cmdb_rel_ci', { parent, child, type }, account.userName);
  return { className: 'cmdb_rel_ci', operation: 'INSERT', sysId: row?.values.sys_id ?? 'Unknown' };
}
