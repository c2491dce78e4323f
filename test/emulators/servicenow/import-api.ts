import { type Answer, failure, type Request } from './http.ts';
import { type Instance, write } from './instance.ts';
import type { Account } from './users.ts';

/** POST /api/now/import/{stagingTableName} */
export function importCall(instance: Instance, account: Account, request: Request, staging: string): Answer {
  const set = instance.importSets[staging];
  if (request.method !== 'POST') return failure(405, 'Method not supported', null);
  if (!set) return failure(400, `Invalid table ${staging}`, null);
  if (!account.roles.has('import_set_loader') && !account.roles.has('admin')) {
    return failure(403, 'User Not Authorized', 'Failed API level ACL Validation');
  }
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(request.body);
  } catch {
    return failure(400, 'Exception while reading request', 'The payload is not valid JSON.');
  }
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(body))
    values[set.fields?.[name] ?? name] = value === null ? '' : String(value);
  const about = { transform_map: set.map, table: set.target };
  const lacking = set.mandatory?.find((name) => !values[name]);
  if (lacking !== undefined) {
    return answer(instance, staging, { ...about, status: 'error', error_message: `${lacking} is mandatory` });
  }
  if (set.ignores?.includes(values.name ?? '')) {
    return answer(instance, staging, {
      ...about,
      status: 'ignored',
      status_message: 'Row transform ignored by onBefore script',
    });
  }
  const missing = set.coalesce.filter((name) => !values[name]);
  const found =
    set.coalesce.length === 0
      ? []
      : instance.store
          .of(set.target)
          .filter((row) => set.coalesce.every((name) => row.values[name] === values[name]));
  if (missing.length > 0 || found.length > 1) {
    const reason =
      missing.length > 0 ? `Coalesce field ${missing[0]} is empty` : 'Multiple target records found';
    return answer(instance, staging, { ...about, status: 'error', error_message: reason });
  }
  let [row] = found;
  let status = 'inserted';
  if (row) status = write.update(instance, row, values, account.userName) ? 'updated' : 'ignored';
  else row = write.insert(instance, set.target, values, account.userName);
  const id = row.values.sys_id!;
  return answer(instance, staging, {
    ...about,
    display_name: 'name',
    display_value: instance.store.displayOf(row),
    record_link: `${instance.base}/api/now/table/${set.target}/${id}`,
    status,
    sys_id: id,
  });
}

const answer = (instance: Instance, staging: string, result: Record<string, string>): Answer => ({
  status: 201,
  body: {
    import_set: `ISET${String(instance.writes.length).padStart(7, '0')}`,
    staging_table: staging,
    result: [result],
  },
});
