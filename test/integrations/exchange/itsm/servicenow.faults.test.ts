import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fault, faults, isState } from '../../../emulators/servicenow/faults.ts';
import { populate } from '../../../emulators/servicenow/landscape.ts';
import { type ServiceNowEmulator, startServiceNow } from '../../../emulators/servicenow/server.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { type Connected, connect, expectError, failure, readAll } from './remote.ts';

const table = 'cmdb_ci_linux_server';
const oauth = {
  kind: 'oauth',
  grant: 'password',
  clientId: 'estate-client',
  clientSecret: 'client secret',
  username: 'estate',
  password: 'secret',
} as const;

async function start(): Promise<{ instance: ServiceNowEmulator; remote: Connected }> {
  const instance = await startServiceNow({ clock: createVirtualClock() });
  populate(instance, { items: { [table]: 60 }, relations: 60 });
  return { instance, remote: connect(instance, { auth: oauth }) };
}

/** Reads both tables while records are created, changed and deleted; nothing may be lost, duplicated or invented. */
async function exercise(instance: ServiceNowEmulator, remote: Connected, run: string): Promise<void> {
  const before = new Set(instance.store.ids(table));
  const made: string[] = [];
  const read = readAll(remote, table, 10);
  for (let at = 0; at < 3; at += 1) {
    const { record } = await remote.create(table, { name: `${run} ${at}` }, `${run}:${at}`);
    made.push(record.id);
  }
  await remote.update(table, made[0]!, { name: `${run} changed` });
  await remote.delete(table, made[1]!);
  const { records, hasHiddenRows } = await read;
  const relations = await readAll(remote, 'cmdb_rel_ci', 10);

  const after = new Set(instance.store.ids(table));
  const met = records.map(({ id }) => id);
  expect(new Set(met).size, 'a record came twice').toBe(met.length);
  const missed = [...before].filter((id) => after.has(id) && !met.includes(id));
  const hidden = missed.filter(
    (id) => !instance.accounts.get('estate')!.hidesRow(instance.store.rows.get(id)!),
  );
  expect(hidden, 'records were missed').toEqual([]);
  if (missed.length > 0) expect(hasHiddenRows, 'hidden records were not told of').toBe(true);
  expect(relations.records.length).toBeGreaterThan(0);
  const own = instance.writes.filter(({ user }) => user === 'estate').map(({ kind }) => kind);
  expect(own.sort(), 'writes were lost or doubled').toEqual([
    'delete',
    'insert',
    'insert',
    'insert',
    'update',
  ]);
}

const arm = (instance: ServiceNowEmulator, fault: Fault, nth: number): void => {
  if (isState(fault)) instance.impose(fault);
  else instance.faults.arm({ fault, nth, times: 2 });
};

test.each(faults)('nothing is lost, duplicated or invented with %s', async (fault) => {
  const { instance, remote } = await start();
  arm(instance, fault, 2);
  await exercise(instance, remote, 'alone');
  expect(instance.faults.fired.get(fault)).toBeGreaterThan(0);
  await remote.close();
  await instance.close();
});

test('nothing is lost, duplicated or invented with pairs of faults', async () => {
  const pairs = faults.flatMap((one, at) => faults.slice(at + 1).map((other) => [one, other] as const));
  expect(pairs).toHaveLength(105);
  // a fifth of all pairs, which includes every fault
  for (const [one, other] of pairs.filter((_, at) => at % 5 === 2)) {
    const { instance, remote } = await start();
    arm(instance, one, 2);
    arm(instance, other, 3);
    await exercise(instance, remote, 'pair').catch((error: Error) => {
      throw new Error(`${one} and ${other}: ${error.message}`, { cause: error });
    });
    await remote.close();
    await instance.close();
  }
});

describe('an error contains what failed, where and what to do', () => {
  let instance: ServiceNowEmulator;
  beforeAll(async () => {
    instance = await startServiceNow({ clock: createVirtualClock() });
    populate(instance, { items: { [table]: 5 }, relations: 0 });
  });
  afterAll(() => instance.close());
  const request = { table, fields: ['name'], limit: 10, cursor: null };

  test.each([
    ['limited_with_wait', 'limited'],
    ['limited_without_wait', 'limited'],
    ['unauthorised', 'credentials_refused'],
    ['server_error', 'outage'],
    ['html_answer', 'unreadable_response'],
    ['truncated_json', 'incomplete_response'],
    ['error_after_part', 'incomplete_response'],
    ['slow_page', 'timed_out'],
  ] as const)('%s ends as %s', async (fault, code) => {
    instance.heal();
    instance.faults.arm({ fault, times: 99 });
    const remote = connect(instance);
    const failed = await failure(remote.readPage(request));
    expect(failed.code).toBe(code);
    expect(failed.where).toContain(instance.base);
    expect(failed.what).toContain(`Reading ${table}`);
    expect(failed.advice).toMatch(/\.$/);
    await remote.close();
  });

  test('a rejected token is renewed; invalid credentials are not tried repeatedly', async () => {
    instance.heal();
    const wrong = connect(instance, { auth: { ...oauth, password: 'wrong' } });
    const failed = await failure(wrong.readPage(request));
    expect([failed.code, failed.status, failed.where]).toEqual([
      'credentials_refused',
      401,
      `${instance.base}/oauth_token.do`,
    ]);
    expect(JSON.stringify(failed)).not.toMatch(/client secret|wrong/);
    expect(instance.count('token')).toBe(1);
    await wrong.close();
    for (const auth of [
      oauth,
      {
        kind: 'oauth',
        grant: 'client_credentials',
        clientId: oauth.clientId,
        clientSecret: oauth.clientSecret,
      } as const,
    ]) {
      const remote = connect(instance, { auth });
      await remote.readPage(request);
      instance.oauth.expireAll(true);
      await remote.readPage(request);
      await remote.close();
    }
  });

  test('addresses that are not allowed, or do not respond', async () => {
    instance.heal();
    const refused = connect(instance, {}, { outboundAllow: [] });
    await expectError(refused.readPage(request), 'address_refused');
    const blocked = connect(instance, { url: 'http://127.0.0.1:9' });
    await expectError(blocked.create(table, { name: 'x' }, 'x'), 'address_refused');
    const closed = await startServiceNow({ clock: instance.clock });
    await closed.close();
    const nobody = connect(closed);
    await expectError(nobody.create(table, { name: 'x' }, 'x'), 'unreachable');
    const elsewhere = connect(instance, {});
    await expectError(elsewhere.readPage({ ...request, table: 'nothing' }), 'not_found');
    for (const remote of [refused, blocked, nobody, elsewhere]) await remote.close();
  });
});
