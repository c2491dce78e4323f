import type { ServerOptions } from 'node:https';
import { type Clock, systemClock } from '../../../integrations/exchange/itsm/remote.ts';
import { serveResponses } from '../http.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { changeField, describeTables } from './dictionary.ts';
import { type CallKind, createFaults, type Fault } from './faults.ts';
import { ELSEWHERE, type ImportSet, type Instance, write } from './instance.ts';
import { Oauth } from './oauth.ts';
import { RateRules } from './rate.ts';
import { receive } from './requests.ts';
import { baseSchema, type FieldSchema } from './schema.ts';
import { formatTime, type Row, Store } from './store.ts';
import { type Account, createAccount } from './users.ts';

export interface Options {
  clock?: Clock | VirtualClock;
  /** Ids of rows are made from it. */
  seed?: string;
  accounts?: (Partial<Account> & { userName: string; password: string })[];
  importSets?: Record<string, ImportSet>;
  latency?: Partial<Instance['latency']>;
  /** Serves https; `requestCert` and `ca` ask for a client certificate. */
  tls?: ServerOptions;
}

export interface ServiceNowEmulator extends Instance {
  /** How many requests there were of a kind, on a table where one is named. */
  count(kind: CallKind, table?: string): number;
  /** Acts as somebody else on the instance, as a person with a browser would. */
  elsewhere: {
    insert(table: string, values: Record<string, string>): Row;
    update(id: string, values: Record<string, string>): boolean;
    remove(id: string): void;
  };
  /** Adds, changes or takes away a column. */
  changeField(table: string, field: FieldSchema | { name: string; removed: true }): void;
  /** Sets a fault that is a state of the instance; others are armed by `faults.arm`. */
  impose(fault: Fault): void;
  /** Lifts what faults have left behind: hidden rows and columns, the wrong time, armed faults. */
  heal(): void;
  close(): Promise<void>;
}

/** How far ahead the time of an instance with a wrong clock is. */
const SKEW_MS = 7 * 60_000;

/** Starts an instance of its own on loopback, with one account `estate`/`secret` unless others are given. */
export async function startServiceNow(options: Options = {}): Promise<ServiceNowEmulator> {
  const clock = options.clock ?? systemClock;
  const store = new Store(baseSchema(), clock, options.seed ?? 'instance');
  describeTables(store);
  const accounts = new Map(
    (options.accounts ?? [{ userName: 'estate', password: 'secret' }]).map((given) => [
      given.userName,
      createAccount(store, given),
    ]),
  );
  const { origin, close } = await serveResponses((received) => receive(emulator, received), {
    tls: options.tls,
    now: () => store.now(),
  });
  const emulator: ServiceNowEmulator = {
    base: origin,
    clock,
    store,
    accounts,
    oauth: new Oauth(clock, (user, password) => accounts.get(user)?.password === password),
    rate: new RateRules(clock, () => store.skew),
    faults: createFaults(),
    importSets: options.importSets ?? {},
    latency: { list: 0, write: 0, answer: 0, ...options.latency },
    calls: [],
    writes: [],
    looks: new Map(),
    count: (kind, table) =>
      emulator.calls.filter((call) => call.kind === kind && (table === undefined || call.table === table))
        .length,
    elsewhere: {
      insert: (table, values) => write.insert(emulator, table, values, ELSEWHERE),
      update: (id, values) => write.update(emulator, store.rows.get(id)!, values, ELSEWHERE),
      remove: (id) => write.remove(emulator, store.rows.get(id)!, ELSEWHERE),
    },
    changeField: (table, field) => changeField(store, table, field),
    impose(fault) {
      emulator.faults.note(fault);
      if (fault === 'clock_skew') store.skew = SKEW_MS;
      const at = formatTime(store.now());
      if (fault !== 'equal_timestamps') return;
      for (const row of [...store.of('cmdb'), ...store.of('cmdb_rel_ci')]) row.values.sys_updated_on = at;
    },
    heal() {
      emulator.faults.clear();
      store.skew = 0;
      for (const account of accounts.values()) {
        account.hidesRow = () => false;
        account.hidesField = () => false;
      }
    },
    close,
  };
  return emulator;
}
