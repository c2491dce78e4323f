import { faults as itopFaults } from '../../../emulators/itop/faults.ts';
import { populate as populateItop } from '../../../emulators/itop/landscape.ts';
import { startItop } from '../../../emulators/itop/server.ts';
import { faults as netboxFaults } from '../../../emulators/netbox/faults.ts';
import { populate as populateNetBox } from '../../../emulators/netbox/landscape.ts';
import { startNetBox } from '../../../emulators/netbox/server.ts';
import type { FaultScript } from '../../../emulators/scripted-faults.ts';
import { type Fault, isState, faults as serviceNowFaults } from '../../../emulators/servicenow/faults.ts';
import { populate as populateServiceNow } from '../../../emulators/servicenow/landscape.ts';
import { startServiceNow } from '../../../emulators/servicenow/server.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { connect, connectToItop, connectToNetBox, failure, readAll } from './remote.ts';

type Script = FaultScript<string, string>;

/**
 * Of each kind of remote: a table, and the faults of its emulator. `pairs`: every so many pairs of faults are tried, from the
 * given one on; `losing`: faults by which the response to an executed write is lost; `errors`: with which a read fails.
 */
const serviceNow = {
  async start() {
    const instance = await startServiceNow({ clock: createVirtualClock() });
    populateServiceNow(instance, { items: { [serviceNow.table]: 60 }, relations: 60 });
    const user = { username: 'estate', password: 'secret' };
    const client = { clientId: 'estate-client', clientSecret: 'client secret' };
    return {
      remote: connect(instance, { auth: { kind: 'oauth', grant: 'password', ...client, ...user } }),
      base: instance.base,
      values: {},
      ids: (): string[] => [...instance.store.ids(serviceNow.table)],
      writes: (): string[] =>
        instance.writes
          .filter((write) => write.user === 'estate')
          .map(({ kind }) => (kind === 'insert' ? 'create' : kind)),
      hides: (id: string) => instance.accounts.get('estate')!.hidesRow(instance.store.rows.get(id)!),
      arm: (script: Script) =>
        isState(script.fault as Fault)
          ? instance.impose(script.fault as Fault)
          : instance.faults.arm(script as never),
      fired: (fault: string) => instance.faults.fired.get(fault as never),
      close: () => instance.close(),
    };
  },
  table: 'cmdb_ci_linux_server',
  path: '/api/now/v2/table/cmdb_ci_linux_server',
  limit: 10,
  faults: serviceNowFaults,
  // includes every fault
  pairs: { every: 5, first: 2 },
  losing: ['reset_after_write', 'truncated_json', 'slow_page'],
  errors: {
    limited_with_wait: 'rate_limited',
    limited_without_wait: 'rate_limited',
    unauthorised: 'credentials_refused',
    server_error: 'unavailable',
    html_answer: 'unreadable_response',
    truncated_json: 'incomplete_response',
    error_after_part: 'incomplete_response',
    slow_page: 'timed_out',
  },
  relations: 'cmdb_rel_ci',
};

const itop = {
  async start() {
    const instance = await startItop({ clock: createVirtualClock() });
    const { org } = populateItop(instance, { servers: 30, applications: 2 });
    return {
      remote: connectToItop(instance),
      base: instance.base,
      values: { org_id: `Organization::${org.id}` },
      ids: (): string[] => instance.store.of('Server').map(({ id }) => `Server::${id}`),
      writes: (): string[] => instance.writes.map(({ kind }) => kind),
      hides: () => false,
      arm: (script: Script) => instance.faults.arm(script as never),
      fired: (fault: string) => instance.faults.fired.get(fault as never),
      close: () => instance.close(),
    };
  },
  table: 'Server',
  path: '/webservices/rest.php',
  limit: 7,
  faults: itopFaults,
  relations: null,
  pairs: { every: 4, first: 0 },
  losing: ['reset_after_write', 'truncated_json', 'refused_after_write', 'html_answer'],
  errors: {
    limited: 'rate_limited',
    unauthorised: 'credentials_refused',
    server_error: 'unavailable',
    database_error: 'unavailable',
    html_answer: 'unreadable_response',
    truncated_json: 'incomplete_response',
    slow_page: 'timed_out',
  },
};

const netBox = {
  async start() {
    const netbox = await startNetBox({ clock: createVirtualClock() });
    const { role, sites } = populateNetBox(netbox, 25);
    return {
      remote: connectToNetBox(netbox),
      base: netbox.base,
      values: { role: `dcim/device-roles/${role.id}`, site: `dcim/sites/${sites[1]!.id}` },
      ids: (): string[] => netbox.store.rows(netBox.table).map(({ id }) => `${netBox.table}/${id}`),
      writes: () => netbox.store.writes.filter(({ who }) => who === 'estate').map(({ action }) => action),
      hides: () => false,
      arm: (script: Script) => netbox.faults.arm(script as never),
      fired: (fault: string) => netbox.faults.fired.get(fault as never),
      close: () => netbox.close(),
    };
  },
  table: 'dcim/devices',
  path: '/api/dcim/devices/',
  limit: 5,
  faults: netboxFaults,
  relations: null,
  pairs: { every: 4, first: 0 },
  losing: ['reset_after_write', 'truncated_json', 'slow_page'],
  errors: {
    limited_with_wait: 'rate_limited',
    server_error: 'unavailable',
    html_answer: 'unreadable_response',
    truncated_json: 'incomplete_response',
    slow_page: 'timed_out',
  },
};

describe.each(Object.entries({ serviceNow, itop, netBox }))('%s', (_name, kind) => {
  const { table, limit, pairs: chosen, losing, errors, relations } = kind;
  const faults: readonly string[] = kind.faults;
  let emulated: Awaited<ReturnType<typeof kind.start>>;
  beforeEach(async () => {
    emulated = await kind.start();
  });
  afterEach(async () => {
    await emulated.remote.close();
    await emulated.close();
  });

  /** Reads a table while records are created, changed and deleted; nothing may be lost, duplicated or invented. */
  async function exercise(): Promise<void> {
    const { remote, values, ids, writes, hides } = emulated;
    const before = ids();
    const read = readAll(remote, table, limit);
    const made: string[] = [];
    for (let at = 0; at < 3; at += 1)
      made.push((await remote.create(table, { ...values, name: `new ${at}` }, `estate:${at}`)).record.id);
    await remote.update(table, made[0]!, { name: 'changed' });
    await remote.delete(table, made[1]!);
    const { records, hasHiddenRows } = await read;

    const after = new Set(ids());
    const met = records.map(({ id }) => id);
    expect(new Set(met).size, 'a record came twice').toBe(met.length);
    const missed = before.filter((id) => after.has(id) && !met.includes(id));
    expect(
      missed.filter((id) => !hides(id)),
      'records were missed',
    ).toEqual([]);
    if (missed.length > 0) expect(hasHiddenRows, 'hidden records were not told of').toBe(true);
    const expected = ['create', 'create', 'create', 'delete', 'update'];
    expect(writes().sort(), 'writes were lost or doubled').toEqual(expected);
    if (relations) expect((await readAll(remote, relations, limit)).records.length).toBeGreaterThan(0);
  }

  test.each(faults)('nothing is lost, duplicated or invented with %s', async (fault) => {
    emulated.arm({ fault, nth: 2, times: 2 });
    await exercise();
    expect(emulated.fired(fault)).toBeGreaterThan(0);
  });
  const pairs = faults.flatMap((one, at) => faults.slice(at + 1).map((other) => [one, other] as const));
  test.each(pairs.filter((_, at) => at % chosen.every === chosen.first))(
    'nor with %s and %s',
    async (one, other) => {
      emulated.arm({ fault: one, nth: 2, times: 2 });
      emulated.arm({ fault: other, nth: 3, times: 2 });
      await exercise();
    },
  );
  test.each(losing)('each write is executed once with %s', async (fault) => {
    const { remote, values, writes } = emulated;
    const lose = () => emulated.arm({ fault, kinds: ['create', 'update', 'delete'], times: 1 });
    lose();
    const { record } = await remote.create(table, { ...values, name: 'web' }, 'estate:1');
    lose();
    await remote.update(table, record.id, { name: 'web 2' });
    lose();
    const existed = await remote.delete(table, record.id);
    expect(writes()).toEqual(['create', 'update', 'delete']);
    // iTop may refuse what it has executed: then it is unknown whether the object existed
    if (fault !== 'refused_after_write') expect(existed).toBe(true);
  });
  test.each(Object.entries(errors))(
    '%s ends as %s, with what failed, where and what to do',
    async (fault, code) => {
      emulated.arm({ fault, times: 99 });
      const failed = await failure(
        emulated.remote.readPage({ table, fields: ['name'], limit, cursor: null }),
      );
      expect([failed.code, failed.where]).toEqual([code, `${emulated.base}${kind.path}`]);
      expect(failed.what).toContain(`Reading ${table}`);
      expect(failed.advice).toMatch(/\.$/);
    },
  );
});
