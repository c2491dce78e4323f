import { done, type Result } from '../../remote.failures.ts';
import type { Right, RightFound } from '../connector.ts';
import { type Need, testTables } from '../rights.ts';
import type { Transport } from '../transport.ts';
import type { ServiceNowConfig } from './config.ts';
import type { Reading } from './reading.ts';

/** What an administrator of the remote can be asked for. */
const remedies: Record<Right, string> = {
  read: 'a role that reads the table, such as cmdb_read or itil',
  create: 'a role that creates its records, such as itil',
  update: 'a role that changes its records, such as itil',
  delete: 'a role that deletes its records, such as itil_admin',
};

/**
 * Tries what can be tried without a trace: reading is done, and for writes the account's own roles are looked at, as far
 * as it may see them. A write is never tried out.
 */
export async function testRights(
  transport: Transport,
  reading: Reading,
  config: ServiceNowConfig,
  needs: readonly Need[],
): Promise<Result<RightFound[]>> {
  let asked: Promise<Result<Set<string> | null>> | undefined;
  return await testTables(needs, async ({ table, rights }) => {
    const found: RightFound[] = [];
    for (const right of rights) {
      if (right === 'read') {
        const tried = await tryReading(reading, table);
        if (!tried.ok) return tried;
        found.push(tried.value);
        continue;
      }
      asked ??= readRoles(transport);
      const roles = await asked;
      if (!roles.ok) return roles;
      found.push(judged(config, roles.value, table, right));
    }
    return done(found);
  });
}

/** What the roles of the account say of a right. @param roles null where the account may not see them. */
function judged(
  config: ServiceNowConfig,
  roles: Set<string> | null,
  table: string,
  right: Exclude<Right, 'read'>,
): RightFound {
  const way = wayIn(config, table, right);
  const fitting = config.roles[way].filter((role) => roles?.has(role));
  const remedy = way === right ? remedies[right] : waysIn[way as keyof typeof waysIn];
  const about = { table, right };
  if (roles === null) {
    return { ...about, granted: null, how: `The account may not see its own roles; it needs ${remedy}.` };
  }
  if (fitting.length > 0) return { ...about, granted: true, how: `The account has the role ${fitting[0]}.` };
  const how = `The account has none of the roles known to give it; it needs ${remedy}.`;
  return { ...about, granted: false, how };
}

const waysIn = {
  load: 'a role that loads the staging table, such as import_set_loader',
  reconcile: 'a role for identification and reconciliation, such as itil or asset',
};

/** Which roles count: new records may go in by another way than their table. */
function wayIn({ door }: ServiceNowConfig, table: string, right: Exclude<Right, 'read'>) {
  if (right !== 'create') return right;
  if (door.kind === 'import_set' && Object.values(door.staging).includes(table)) return 'load';
  return door.kind === 'reconcile' && table !== 'cmdb_rel_ci' ? 'reconcile' : right;
}

async function tryReading(reading: Reading, table: string): Promise<Result<RightFound>> {
  const about = { table, right: 'read' } as const;
  const counted = await reading.count({ table, filter: undefined, conditions: [], order: [] });
  if (!counted.ok) {
    const { code } = counted.failure;
    if (code !== 'forbidden' && code !== 'not_found') return counted;
    const how =
      code === 'forbidden'
        ? `Reading was refused; the account needs ${remedies.read}.`
        : 'The remote has no such table, or hides it.';
    return done({ ...about, granted: false, how });
  }
  const { total, rows } = counted.value;
  if (rows.length > 0)
    return done({ ...about, granted: true, how: `Read; the table has ${total ?? 'some'} rows.` });
  if (!total) return done({ ...about, granted: true, how: 'Read; the table is empty.' });
  return done({
    ...about,
    granted: false,
    how: `The table has ${total} rows, and the first is hidden from the account: access controls keep rows back.`,
  });
}

/** How an instance keeps the table from the account: rules of access on it end as 400 or 404 too. */
const hidden: ReadonlySet<string> = new Set(['forbidden', 'refused', 'not_found']);

/** The roles of the account itself; null where it may not see them. */
async function readRoles(transport: Transport): Promise<Result<Set<string> | null>> {
  const answer = await transport.send({
    method: 'GET',
    path: '/api/now/v2/table/sys_user_has_role',
    doing: 'Reading the roles of the account',
    query: () => ({
      sysparm_query: 'user=javascript:gs.getUserID()',
      sysparm_fields: 'role.name',
      sysparm_limit: '1000',
      sysparm_no_count: 'true',
    }),
  });
  if (!answer.ok) return hidden.has(answer.failure.code) ? done(null) : answer;
  const rows = Array.isArray(answer.value.result) ? (answer.value.result as Record<string, string>[]) : [];
  // an account always has roles: that none is shown means that they are hidden
  return done(rows.length === 0 ? null : new Set(rows.map((row) => row['role.name'] ?? '')));
}
