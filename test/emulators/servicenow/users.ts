import type { Row, Store } from './store.ts';

export type Operation = 'read' | 'create' | 'write' | 'delete';

/** An account of the instance, and what access controls keep from it. */
export interface Account {
  userName: string;
  password: string;
  roles: Set<string>;
  /** Rows that a query finds but that are taken out of the answer. */
  hidesRow: (row: Row) => boolean;
  /** Columns whose values are kept back: shown as empty, as a denied column is. */
  hidesField: (table: string, field: string) => boolean;
}

const admins = { create: ['admin'], write: ['admin'], delete: ['admin'] };
const nobody = { create: ['nobody'], write: ['nobody'], delete: ['nobody'] };

/** Roles of which one is needed, by table; those of the nearest ancestor hold for a table without its own. */
const requirements: Record<string, Partial<Record<Operation, string[]>>> = {
  cmdb: { read: ['itil', 'cmdb_read'], create: ['itil'], write: ['itil'], delete: ['itil_admin'] },
  cmdb_rel_ci: { read: ['itil', 'cmdb_read'], create: ['itil'], write: ['itil'], delete: ['itil'] },
  cmdb_rel_type: admins,
  sys_audit_delete: { ...nobody, read: ['audit_reader'] },
  sys_audit: { ...nobody, read: ['audit_reader'] },
  sys_dictionary: { ...admins, read: ['personalize_dictionary'] },
  sys_db_object: { ...admins, read: ['personalize_dictionary'] },
  sys_user_has_role: { ...admins, read: ['user_admin'] },
};

/** Whether an account may do something with a table at all; `admin` may everything but what nobody may. */
export function mayDo(store: Store, account: Account, table: string, operation: Operation): boolean {
  const needed = store
    .lineage(table)
    .map((name) => requirements[name]?.[operation])
    .find((roles) => roles !== undefined);
  if (!needed) return true;
  if (needed.includes('nobody')) return false;
  return account.roles.has('admin') || needed.some((role) => account.roles.has(role));
}

export function createAccount(
  store: Store,
  given: Partial<Account> & { userName: string; password: string },
): Account {
  const account: Account = {
    roles: new Set([
      'itil',
      'itil_admin',
      'audit_reader',
      'personalize_dictionary',
      'user_admin',
      'import_set_loader',
    ]),
    hidesRow: () => false,
    hidesField: () => false,
    ...given,
  };
  const user = store.insert(
    'sys_user',
    { user_name: account.userName, name: account.userName, active: 'true' },
    'system',
  );
  for (const name of account.roles) {
    const role =
      store.of('sys_user_role').find(({ values }) => values.name === name) ??
      store.insert('sys_user_role', { name }, 'system');
    store.insert('sys_user_has_role', { user: user.values.sys_id!, role: role.values.sys_id! }, 'system');
  }
  return account;
}
