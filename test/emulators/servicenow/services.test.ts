import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts';
import { type Fault, faults, isState } from './faults.ts';
import { furnish } from './landscape.ts';
import { type ServiceNowEmulator, startServiceNow } from './server.ts';
import expectedWaits from './services.waits.json' with { type: 'json' };

let clock: VirtualClock;
let instance: ServiceNowEmulator;

beforeEach(async () => {
  clock = createVirtualClock();
  instance = await startServiceNow({
    clock,
    batch: true,
    importSets: { u_servers: { target: 'cmdb_ci_server', map: 'Servers', coalesce: ['serial_number'] } },
  });
  furnish(instance, { items: { cmdb_ci_linux_server: 12 }, relations: 12 });
});
afterEach(() => instance.close());

const basic = `Basic ${Buffer.from('estate:secret').toString('base64')}`;
const send = (method: string, path: string, body?: unknown, authorization = basic): Promise<Response> =>
  fetch(`${instance.base}${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const list =
  '/api/now/table/cmdb_ci_linux_server?sysparm_fields=sys_id,name&sysparm_query=ORDERBYsys_id&sysparm_limit=5';

describe('OAuth', () => {
  const token = async (form: Record<string, string>) => {
    const response = await fetch(`${instance.base}/oauth_token.do`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'estate-client', client_secret: 'client secret', ...form }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, string | number> };
  };
  const password = { grant_type: 'password', username: 'estate', password: 'secret' };

  test('a token is the same until it ends, and is renewed by its refresh token', async () => {
    const { body: first } = await token(password);
    expect(first).toMatchObject({ token_type: 'Bearer', expires_in: 1_800, scope: 'useraccount' });
    clock.advance(1_000_000);
    const { body: again } = await token(password);
    expect([again.access_token, again.expires_in]).toEqual([first.access_token, 800]);
    const bearer = `Bearer ${first.access_token}`;
    expect((await send('GET', list, undefined, bearer)).status).toBe(200);
    clock.advance(800_000);
    expect((await send('GET', list, undefined, bearer)).status).toBe(401);
    const { body: renewed } = await token({
      grant_type: 'refresh_token',
      refresh_token: String(first.refresh_token),
    });
    expect(renewed.refresh_token).toBe(first.refresh_token);
    expect((await send('GET', list, undefined, `Bearer ${renewed.access_token}`)).status).toBe(200);
  });

  test('client credentials act for a user; all else is refused', async () => {
    const { body } = await token({ grant_type: 'client_credentials' });
    expect(body.refresh_token).toBeUndefined();
    expect((await send('GET', list, undefined, `Bearer ${body.access_token}`)).status).toBe(200);
    expect(await token({ ...password, password: 'wrong' })).toEqual({
      status: 401,
      body: { error: 'access_denied', error_description: 'access_denied' },
    });
    expect((await token({ ...password, client_secret: 'wrong' })).body.error).toBe('invalid_client');
    instance.oauth.expireAll(true);
    expect((await token({ grant_type: 'refresh_token', refresh_token: 'old' })).status).toBe(401);
  });
});

test('an import set row is inserted, updated, passed over or refused by its coalesce column', async () => {
  const load = async (body: object) => {
    const answer = (await (await send('POST', '/api/now/import/u_servers', body)).json()) as {
      result: { status: string; sys_id?: string }[];
    };
    return answer.result[0]!;
  };
  const first = await load({ serial_number: 'S-1', name: 'one' });
  expect(first).toMatchObject({ status: 'inserted', table: 'cmdb_ci_server' });
  expect(await load({ serial_number: 'S-1', name: 'one' })).toMatchObject({
    status: 'ignored',
    sys_id: first.sys_id,
  });
  expect(await load({ serial_number: 'S-1', name: 'two' })).toMatchObject({
    status: 'updated',
    sys_id: first.sys_id,
  });
  expect(await load({ name: 'three' })).toMatchObject({ status: 'error' });
  expect((await send('POST', '/api/now/import/u_none', {})).status).toBe(400);
});

test('identification finds by source and by attribute, relates, and tells what it cannot', async () => {
  const reconcile = async (payload: object, path = '') => {
    const answer = await send(
      'POST',
      `/api/now/identifyreconcile${path}?sysparm_data_source=Estate`,
      payload,
    );
    return (
      (await answer.json()) as {
        result: { items: Record<string, unknown>[]; relations: Record<string, unknown>[] };
      }
    ).result;
  };
  const item = (name: string, values: object = {}, key?: string) => ({
    className: 'cmdb_ci_linux_server',
    values: { name, ...values },
    ...(key ? { sys_object_source_info: { source_name: 'Estate', source_native_key: key } } : {}),
  });
  const payload = {
    items: [item('new', {}, 'card-1'), item('Host 3')],
    relations: [{ parent: 0, child: 1, type: 'Depends on::Used by' }],
  };
  expect((await reconcile(payload, '/query')).items[0]).toMatchObject({
    operation: 'INSERT',
    sysId: 'Unknown',
  });
  const made = await reconcile(payload);
  expect(made.items.map(({ operation }) => operation)).toEqual(['INSERT', 'UPDATE']);
  expect(made.relations[0]).toMatchObject({ className: 'cmdb_rel_ci', operation: 'INSERT' });
  const again = await reconcile({ ...payload, items: [item('renamed', {}, 'card-1'), item('Host 3')] });
  expect(again.items.map(({ operation, sysId }) => [operation, sysId])).toEqual([
    ['UPDATE', made.items[0]!.sysId],
    ['NO_CHANGE', made.items[1]!.sysId],
  ]);
  expect(again.relations[0]).toMatchObject({ operation: 'NO_CHANGE' });
  const faulty = await reconcile({
    items: [
      { className: 'cmdb_ci_linux_server', values: { os: 'x' } },
      { className: 'sys_user', values: {} },
    ],
  });
  expect(faulty.items.map(({ errors }) => (errors as { error: string }[])[0]!.error)).toEqual([
    'MISSING_MATCHING_ATTRIBUTES',
    'INVALID_INPUT_DATA',
  ]);
});

test('a batch answers each of its requests', async () => {
  const answer = (await (
    await send('POST', '/api/now/v1/batch', {
      batch_request_id: '1',
      rest_requests: [
        { id: 'a', method: 'GET', url: list },
        {
          id: 'b',
          method: 'POST',
          url: '/api/now/table/cmdb_ci_server',
          body: Buffer.from('{"name":"batched"}').toString('base64'),
        },
      ],
    })
  ).json()) as { serviced_requests: { id: string; status_code: number; body: string }[] };
  expect(answer.serviced_requests.map(({ id, status_code }) => [id, status_code])).toEqual([
    ['a', 200],
    ['b', 201],
  ]);
  expect(Buffer.from(answer.serviced_requests[1]!.body, 'base64').toString()).toContain('batched');
});

test('a rate rule lets so many through a window, and can be changed in mid-run', async () => {
  instance.rate.rule = { ...instance.rate.rule, limit: 3 };
  const statuses = async (count: number) => {
    const seen: number[] = [];
    for (let at = 0; at < count; at += 1) seen.push((await send('GET', list)).status);
    return seen;
  };
  expect(await statuses(4)).toEqual([200, 200, 200, 429]);
  const refused = await send('GET', list);
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    'retry-after': '1',
    'x-ratelimit-limit': '3',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.floor(clock.now() / 1000) + 1),
  });
  clock.advance(1_000);
  instance.rate.rule = { ...instance.rate.rule, limit: 1, retryAfter: false, headers: false };
  expect(await statuses(2)).toEqual([200, 429]);
  expect((await send('GET', list)).headers.get('retry-after')).toBeNull();
});

describe('faults', () => {
  const create = () => send('POST', '/api/now/table/cmdb_ci_linux_server', { name: 'made' });
  const page = async () =>
    ((await (await send('GET', list)).json()) as { result: { sys_id: string; name: string }[] }).result;

  const seen: Record<Exclude<Fault, 'equal_timestamps' | 'clock_skew'>, () => Promise<unknown>> = {
    limited_with_wait: async () => (await send('GET', list)).headers.get('retry-after'),
    limited_without_wait: async () => (await send('GET', list)).headers.get('retry-after'),
    unauthorised: async () => (await send('GET', list)).status,
    token_expired: async () => (await send('GET', list)).status,
    server_error: async () => (await send('GET', list)).status,
    html_answer: async () => (await send('GET', list)).headers.get('content-type'),
    truncated_json: () => page().catch((error: Error) => error.name),
    error_after_part: async () => Object.keys((await (await send('GET', list)).json()) as object).sort(),
    rows_between_pages: async () => {
      const before = await page();
      return (await page()).filter(({ sys_id }) => !before.some((row) => row.sys_id === sys_id)).length > 0;
    },
    duplicate_ids: async () => {
      const rows = await page();
      return rows.length - new Set(rows.map(({ sys_id }) => sys_id)).size;
    },
    slow_page: async () => {
      const before = clock.now();
      await send('GET', list);
      return clock.now() - before;
    },
    reset_after_write: async () => [
      await create().catch((error: Error) => error.name),
      instance.writes.length,
    ],
    acl_change: async () => {
      await send('GET', list);
      return [instance.accounts.get('estate')!.hidesField('cmdb', 'short_description')];
    },
  };
  const expected: Record<keyof typeof seen, unknown> = expectedWaits;

  test.each(faults.filter((fault) => !isState(fault)) as (keyof typeof seen)[])(
    '%s befalls the call it is set for',
    async (fault) => {
      instance.faults.arm({ fault, nth: 1 });
      expect(await seen[fault]()).toEqual(expected[fault]);
      expect(instance.faults.fired.get(fault)).toBe(1);
      instance.heal();
      expect((await create()).status).toBe(201);
    },
  );

  test('the nth call alone goes wrong, on the table named alone', async () => {
    instance.faults.arm({ fault: 'server_error', nth: 2, times: 2, table: 'cmdb_ci_linux_server' });
    const statuses: number[] = [];
    for (let at = 0; at < 4; at += 1) {
      statuses.push(
        (await send('GET', list)).status,
        (await send('GET', '/api/now/table/cmdb_rel_ci')).status,
      );
    }
    expect(statuses).toEqual([200, 200, 500, 200, 500, 200, 200, 200]);
    expect(instance.count('list', 'cmdb_rel_ci')).toBe(4);
  });

  test('a wrong clock and equal timestamps are states', async () => {
    instance.impose('clock_skew');
    const made = (await (await create()).json()) as { result: { sys_created_on: string } };
    expect(Date.parse(`${made.result.sys_created_on.replace(' ', 'T')}Z`) - clock.now()).toBe(7 * 60_000);
    instance.impose('equal_timestamps');
    expect(new Set(instance.store.of('cmdb').map(({ values }) => values.sys_updated_on)).size).toBe(1);
    instance.heal();
    expect(instance.store.now()).toBe(clock.now());
  });
});
