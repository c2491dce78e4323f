import { withFallback } from '../../remote.ts';
import type { Right } from '../connector.ts';
import type { RightsTest, WriteRight } from '../rights.ts';
import type { Transport } from '../transport.ts';
import type { Reading } from './reading.ts';
import type { ServiceNowConfig } from './session.ts';

/** What to request from the remote's administrator. */
const remedies: Record<Right | 'load' | 'reconcile', string> = {
  read: 'a role that reads the table, such as cmdb_read or itil',
  create: 'a role that creates its records, such as itil',
  update: 'a role that changes its records, such as itil',
  delete: 'a role that deletes its records, such as itil_admin',
  load: 'a role that loads the staging table, such as import_set_loader',
  reconcile: 'a role for identification and reconciliation, such as itil or asset',
};

/** Tests reading by a request, and writing by the account's own roles, if it may read them. Nothing is written. */
export function rightsTest(
  transport: Transport,
  reading: Pick<Reading, 'count'>,
  config: ServiceNowConfig,
): RightsTest {
  let roles: Promise<Set<string> | null> | undefined;
  return {
    unreadable: ({ code }) =>
      code === 'forbidden'
        ? `Reading was refused; the account needs ${remedies.read}.`
        : 'The remote has no such table, or hides it from the account.',
    async read(table) {
      const { total, rows } = await reading.count({ table, conditions: [] });
      if (rows.length > 0) return { granted: true, how: `Read; the table has ${total ?? 'some'} rows.` };
      if (!total) return { granted: true, how: 'Read; the table is empty.' };
      const how = `The table has ${total} rows, but access controls hide the first of them from the account.`;
      return { granted: false, how };
    },
    async write(table, right) {
      roles ??= readRoles(transport);
      const own = await roles;
      const needed = roleGroupOf(config, table, right);
      if (own === null) {
        const how = `The account may not read its own roles; it needs ${remedies[needed]}.`;
        return { granted: null, how };
      }
      const role = config.roles[needed].find((name) => own.has(name));
      if (role !== undefined) return { granted: true, how: `The account has the role ${role}.` };
      const how = `The account has none of the roles that are known to grant it; it needs ${remedies[needed]}.`;
      return { granted: false, how };
    },
  };
}

/** The roles that grant a right; creating records may use another API than the Table API. */
function roleGroupOf({ createApi: api }: ServiceNowConfig, table: string, right: WriteRight) {
  if (right !== 'create') return right;
  if (api.kind === 'import_set' && Object.values(api.staging).includes(table)) return 'load';
  return api.kind === 'reconcile' && table !== 'cmdb_rel_ci' ? 'reconcile' : right;
}

/** The roles of the account itself; null if it may not read them. */
async function readRoles(transport: Transport): Promise<Set<string> | null> {
  const request = transport.send({
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
  // an instance may report access controls of the table as 400 or 404
  const response = await withFallback(request, ['forbidden', 'refused', 'not_found'], null);
  const rows = Array.isArray(response?.result) ? (response.result as Record<string, string>[]) : [];
  // an account always has roles: if none is returned, they are hidden
  return rows.length === 0 ? null : new Set(rows.map((row) => row['role.name'] ?? ''));
}
