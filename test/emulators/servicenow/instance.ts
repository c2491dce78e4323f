import type { Clock } from '../../../integrations/exchange/itsm/remote.ts';
import type { Call } from './calls.ts';
import type { Faults } from './faults.ts';
import type { Answer } from './http.ts';
import type { ImportSet } from './import-sets.ts';
import type { Oauth } from './oauth.ts';
import type { RateRules } from './rate.ts';
import type { Row, Store } from './store.ts';
import type { Account, Requirements } from './users.ts';

/** One stored write, whoever made it. */
interface Write {
  kind: 'insert' | 'update' | 'delete';
  table: string;
  id: string;
  user: string;
  at: number;
  values: Record<string, string>;
}

/** An instance as its parts share it. */
export interface Instance {
  base: string;
  clock: Clock;
  /** Lets time pass before an answer; ends at once when the caller has gone. */
  hold(ms: number, signal: AbortSignal): Promise<void>;
  store: Store;
  accounts: Map<string, Account>;
  requirements: Requirements;
  oauth: Oauth;
  rate: RateRules;
  faults: Faults;
  importSets: Record<string, ImportSet>;
  /** Whether POST /api/now/v1/batch is there. */
  batch: boolean;
  /** Milliseconds that a page, a single record and a write take, and the answer to a write that is done. */
  latency: { list: number; one: number; write: number; answer: number };
  calls: Call[];
  /** Told of each call before it is answered. */
  watch?: ((call: Call) => void) | undefined;
  /** How many further pages of a table show their first row in place of the second one, too. */
  repeats?: { table: string; pages: number } | undefined;
  /** Answers a call in place of the instance, as one that is starting or restricted does. */
  instead?: ((call: Call) => Answer | undefined) | undefined;
  writes: Write[];
  /** By record that a list has shown alone: how many writes there were then. */
  looks: Map<string, number>;
}

/** Inserts, changes or deletes a row and keeps a note of it. */
export const write = {
  insert(instance: Instance, table: string, values: Record<string, string>, user: string): Row {
    const row = instance.store.insert(table, values, user);
    note(instance, 'insert', row, user, values);
    return row;
  },
  update(instance: Instance, row: Row, values: Record<string, string>, user: string): boolean {
    const changed = instance.store.update(row, values, user);
    if (changed) note(instance, 'update', row, user, values);
    return changed;
  },
  remove(instance: Instance, row: Row, user: string): void {
    instance.store.remove(row, user);
    note(instance, 'delete', row, user, {});
  },
};

function note(
  instance: Instance,
  kind: Write['kind'],
  row: Row,
  user: string,
  values: Record<string, string>,
): void {
  instance.writes.push({
    kind,
    table: row.table,
    id: row.values.sys_id!,
    user,
    at: instance.clock.now(),
    values,
  });
}
