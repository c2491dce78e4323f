import { beforeEach, describe, expect, test } from 'vitest';
import { closeAfterAll } from '../../support/harness.ts';
import { furnish } from './landscape.ts';
import { startServiceNow } from './server.ts';
import queries from './table-api.queries.json' with { type: 'json' };

const instance = closeAfterAll(
  await startServiceNow({
    accounts: [
      { userName: 'estate', password: 'secret', timeZoneHours: 2 },
      { userName: 'reader', password: 'secret', roles: new Set(['cmdb_read']) },
    ],
  }),
);
furnish(instance, {
  items: { cmdb_ci_linux_server: 30, cmdb_ci_win_server: 10, cmdb_ci_business_app: 20 },
  relations: 90,
});

beforeEach(() => instance.heal());

interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of a foreign form
  body: any;
}

async function call(method: string, path: string, body?: unknown, user = 'estate'): Promise<Reply> {
  const response = await fetch(`${instance.base}/api/now/${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${user}:secret`).toString('base64')}`,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
}

const get = (table: string, parameters: Record<string, string>, user?: string): Promise<Reply> =>
  call('GET', `v2/table/${table}?${new URLSearchParams(parameters)}`, undefined, user);
const namesOf = async (table: string, query: string): Promise<string[]> => {
  const { body } = await get(table, { sysparm_query: query, sysparm_fields: 'name' });
  return body.result.map(({ name }: { name: string }) => name).sort();
};

describe('reading', () => {
  test('a parent shows the rows of its children, each with its own class', async () => {
    const { body } = await get('cmdb_ci_server', { sysparm_fields: 'name,sys_class_name' });
    const classes = Map.groupBy(body.result as { sys_class_name: string }[], (row) => row.sys_class_name);
    expect([...classes].map(([name, rows]) => [name, rows.length]).sort()).toEqual([
      ['cmdb_ci_linux_server', 30],
      ['cmdb_ci_win_server', 10],
    ]);
    expect((await get('cmdb_ci', {})).body.result).toHaveLength(60);
  });

  test('pages have a count and links, unless no count is wanted', async () => {
    const page = await get('cmdb_ci', {
      sysparm_limit: '25',
      sysparm_offset: '25',
      sysparm_query: 'ORDERBYsys_id',
    });
    expect(page.body.result).toHaveLength(25);
    expect(page.headers.get('x-total-count')).toBe('60');
    expect([...page.headers.get('link')!.matchAll(/rel="(\w+)"/g)].map(([, rel]) => rel)).toEqual([
      'first',
      'prev',
      'next',
      'last',
    ]);
    const bare = await get('cmdb_ci', { sysparm_limit: '25', sysparm_no_count: 'true' });
    expect(bare.headers.get('x-total-count')).toBeNull();
  });

  test('reading on beyond the last id shows each row once', async () => {
    const seen: string[] = [];
    for (let after = ''; ; after = seen.at(-1)!) {
      const page = await get('cmdb_rel_ci', {
        sysparm_query: `sys_id>${after}^ORDERBYsys_id`,
        sysparm_limit: '40',
        sysparm_fields: 'sys_id',
        sysparm_no_count: 'true',
      });
      if (page.body.result.length === 0) break;
      seen.push(...page.body.result.map(({ sys_id }: { sys_id: string }) => sys_id));
    }
    expect(seen).toEqual([...instance.store.ids('cmdb_rel_ci')]);
  });

  test.each(queries as [string, number][])('the query %s finds %i servers', async (query, count) => {
    expect(await namesOf('cmdb_ci_server', query)).toHaveLength(count);
  });

  test('rows come in the order asked for', async () => {
    const { body } = await get('cmdb_ci_server', {
      sysparm_query: 'ORDERBYDESCcost^ORDERBYname',
      sysparm_fields: 'name,cost',
      sysparm_limit: '2',
    });
    expect(body.result).toEqual([
      { name: 'Host 29', cost: '2900' },
      { name: 'Host 28', cost: '2800' },
    ]);
  });

  test('values are stored ones, those shown to people, or both', async () => {
    const fields = {
      sysparm_query: 'name=Host 11',
      sysparm_fields: 'name,install_status,ram,company,sys_updated_on,company.name',
    };
    const row = instance.store.of('cmdb_ci_linux_server').find(({ values }) => values.name === 'Host 11')!;
    const company = row.values.company!;
    const link = `${instance.base}/api/now/v2/table/core_company/${company}`;
    const one = async (more: Record<string, string>) =>
      (await get('cmdb_ci_linux_server', { ...fields, ...more })).body.result[0];
    expect(await one({})).toEqual({
      name: 'Host 11',
      install_status: '7',
      ram: '12288',
      company: { link, value: company },
      sys_updated_on: row.values.sys_updated_on,
      'company.name': 'Tailspin',
    });
    const shown = await one({ sysparm_display_value: 'true', sysparm_exclude_reference_link: 'true' });
    expect(shown).toMatchObject({ install_status: 'Retired', ram: '12,288', company: 'Tailspin' });
    const stored = Date.parse(`${row.values.sys_updated_on!.replace(' ', 'T')}Z`);
    expect(Date.parse(`${shown.sys_updated_on.replace(' ', 'T')}Z`) - stored).toBe(2 * 3_600_000);
    const both = await one({ sysparm_display_value: 'all' });
    expect(both.company).toEqual({ display_value: 'Tailspin', link, value: company });
    expect(both.install_status).toEqual({ display_value: 'Retired', value: '7' });
  });

  test('what access controls hide is missing from the page, not from the count', async () => {
    const account = instance.accounts.get('estate')!;
    account.hidesRow = (row) => row.values.name === 'Host 3';
    account.hidesField = (_table, field) => field === 'serial_number';
    const page = await get('cmdb_ci_win_server', { sysparm_limit: '10' });
    expect(page.body.result).toHaveLength(9);
    expect(page.headers.get('x-total-count')).toBe('10');
    expect(
      new Set(page.body.result.map(({ serial_number }: { serial_number: string }) => serial_number)),
    ).toEqual(new Set(['']));
  });

  test('the dictionary tells columns where they come from, with their choices', async () => {
    const { body } = await get('sys_dictionary', {
      sysparm_query: 'nameINcmdb_ci_server,cmdb^elementINvirtual,install_status',
    });
    expect(
      body.result.map(({ name, element }: Record<string, string>) => `${name}.${element}`).sort(),
    ).toEqual(['cmdb.install_status', 'cmdb_ci_server.virtual']);
    const choices = await get('sys_choice', { sysparm_query: 'name=cmdb^element=install_status^value=7' });
    expect(choices.body.result[0].label).toBe('Retired');
    instance.changeField('cmdb_ci_server', { name: 'u_rack', label: 'Rack', type: 'string', maxLength: 10 });
    expect((await get('sys_dictionary', { sysparm_query: 'element=u_rack' })).body.result).toHaveLength(1);
    instance.changeField('cmdb_ci_server', { name: 'u_rack', removed: true });
    expect((await get('sys_dictionary', { sysparm_query: 'element=u_rack' })).body.result).toHaveLength(0);
  });
});

describe('writing', () => {
  test('a row is made, changed and deleted, with its relations and a record of each', async () => {
    const made = await call('POST', 'table/cmdb_ci_server', {
      name: 'web 1',
      sys_class_name: 'cmdb_ci_linux_server',
      os: 'x'.repeat(50),
      no_such_column: 'passed over',
      company: 'Contoso',
      sys_id: 'mine',
    });
    expect(made.status).toBe(201);
    const { sys_id: id, sys_class_name, os, sys_mod_count } = made.body.result;
    expect([sys_class_name, os.length, sys_mod_count]).toEqual(['cmdb_ci_linux_server', 40, '0']);
    expect(made.headers.get('location')).toContain(`/table/cmdb_ci_server/${id}`);

    const same = await call('PATCH', `table/cmdb_ci_server/${id}`, { name: 'web 1' });
    expect([same.status, same.body.result.sys_mod_count]).toEqual([200, '0']);
    const changed = await call('PUT', `table/cmdb_ci_server/${id}?sysparm_input_display_value=true`, {
      company: 'Contoso',
      install_status: 'Retired',
    });
    expect(changed.body.result).toMatchObject({
      sys_mod_count: '1',
      install_status: '7',
      sys_updated_by: 'estate',
    });
    expect(changed.body.result.company.value).toHaveLength(32);

    const [type] = instance.store.ids('cmdb_rel_type');
    const other = instance.store.ids('cmdb_ci')[0]!;
    const relation = await call('POST', 'table/cmdb_rel_ci', { parent: id, child: other, type });
    expect((await call('DELETE', `table/cmdb_ci/${id}`)).status).toBe(204);
    expect((await call('GET', `table/cmdb_ci/${id}`)).status).toBe(404);
    const gone = await get('sys_audit_delete', {
      sysparm_query: `documentkeyIN${id},${relation.body.result.sys_id}`,
    });
    expect(gone.body.result.map(({ tablename }: { tablename: string }) => tablename).sort()).toEqual([
      'cmdb_ci_linux_server',
      'cmdb_rel_ci',
    ]);
    expect(instance.writes.filter((write) => write.id === id).map(({ kind }) => kind)).toEqual([
      'insert',
      'update',
      'delete',
    ]);
  });

  test('refusals are in the form of the product', async () => {
    const some = instance.store.ids('cmdb_ci')[0]!;
    const error = async (method: string, path: string, body?: unknown, user?: string) => {
      const reply = await call(method, path, body, user);
      return [reply.status, reply.body.error.message, reply.body.status];
    };
    expect(await error('GET', 'table/nothing')).toEqual([400, 'Invalid table nothing', 'failure']);
    expect(await error('GET', 'table/cmdb_ci', undefined, 'nobody')).toEqual([
      401,
      'User Not Authenticated',
      'failure',
    ]);
    expect(await error('GET', 'table/sys_audit_delete', undefined, 'reader')).toEqual([
      403,
      'User Not Authorized',
      'failure',
    ]);
    expect(await error('PATCH', `table/cmdb_ci/${some}`, { name: 'x' }, 'reader')).toEqual([
      403,
      'Operation Failed',
      'failure',
    ]);
    expect(await error('POST', 'batch', {})).toEqual([
      400,
      'Requested URI does not represent any resource',
      'failure',
    ]);
    expect((await get('cmdb_ci', {}, 'reader')).status).toBe(200);
  });
});
