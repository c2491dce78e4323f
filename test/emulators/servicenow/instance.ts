import type { Clock } from '../../../integrations/exchange/itsm/remote.ts';
import type { Response } from '../http.ts';
import type { CallKind, Faults } from './faults.ts';
import type { Oauth } from './oauth.ts';
import type { RateRules } from './rate.ts';
import type { Row, Store } from './store.ts';
import type { Account } from './users.ts';

/** One request as it was answered; status 0 without an answer. */
export interface Call {
  kind: CallKind;
  table: string;
  user: string;
  /** By the clock of the emulator. */
  at: number;
  status: number;
  query: string;
}

/** A staging table and the map that transforms its rows at once. */
export interface ImportSet {
  target: string;
  map: string;
  /** Columns of the target by which a row is found again. */
  coalesce: string[];
  /** Columns without which the map's script ends a row with an error. */
  mandatory?: string[];
  /** Values of `name` that the map's script skips. */
  ignores?: string[];
}

/** One stored write of any user. */
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
  store: Store;
  accounts: Map<string, Account>;
  oauth: Oauth;
  rate: RateRules;
  faults: Faults;
  importSets: Record<string, ImportSet>;
  /** Milliseconds that a page and a write take, and the answer to a write that is done. */
  latency: { list: number; write: number; answer: number };
  calls: Call[];
  /** Called with each call before it is answered. */
  watch?: ((call: Call) => void) | undefined;
  /** How many further pages of a table show their first row in place of the second one, too. */
  repeats?: { table: string; pages: number } | undefined;
  /** Answers a call in place of the instance, as one that is starting or restricted does. */
  instead?: ((call: Call) => Response | undefined) | undefined;
  writes: Write[];
  /** By record that a list has shown alone: how many writes there were then. */
  looks: Map<string, number>;
}

/** Who changes rows without the synchronisation, as a person with a browser would. */
export const ELSEWHERE = 'abel.tuter';

/** Inserts, changes or deletes a row and records that. */
export const write = {
  insert(instance: Instance, table: string, values: Record<string, string>, user: string): Row {
    const row = instance.store.insert(table, values, user);
    record(instance, 'insert', row, user, values);
    return row;
  },
  update(instance: Instance, row: Row, values: Record<string, string>, user: string): boolean {
    const changed = instance.store.update(row, values, user);
    if (changed) record(instance, 'update', row, user, values);
    return changed;
  },
  remove(instance: Instance, row: Row, user: string): void {
    instance.store.remove(row, user);
    record(instance, 'delete', row, user, {});
  },
};

function record(
  { writes, clock }: Instance,
  kind: Write['kind'],
  { table, values: { sys_id: id = '' } }: Row,
  user: string,
  values: Record<string, string>,
): void {
  writes.push({ kind, table, id, user, at: clock.now(), values });
}
