import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { up } from '../../../../migrations/steps/0083-itsm-owners.ts';
import { createTestServices, type TestServices } from '../../../support/harness.ts';

let t: TestServices;
beforeAll(async () => {
  t = await createTestServices();
});
afterAll(() => t.close());

it('gives connections that were there before to who created them, or else to the oldest administrator', async () => {
  const { db } = t.services;
  await db.raw('alter table itsm_connections drop owner_id, drop rights, drop paused_reason');
  const user = async (role: string) => {
    const values = { email: `${randomUUID()}@estate.example`, display_name: role, role };
    const [row] = await db('users').insert(values).returning('id');
    return row.id as string;
  };
  const connection = async () => {
    const values = {
      name: randomUUID(),
      kind: 'servicenow',
      instance_url: 'https://a.example',
      auth_type: 'basic',
    };
    const [row] = await db('itsm_connections')
      .insert({ ...values, secrets: '' })
      .returning('id');
    return row.id as string;
  };
  const [oldest] = [await user('admin'), await user('admin')];
  const creator = await user('member');
  const [created, unknown] = [await connection(), await connection()];
  const event = {
    event_type: 'itsm_connection.created',
    scope: 'audit',
    user_id: creator,
    data: { id: created },
  };
  await db.raw('select record_events(?::jsonb, ?::text[])', [JSON.stringify([event]), []] as never);
  await up(db);
  const rows = await db('itsm_connections').select('id', 'owner_id', 'rights');
  expect(new Map(rows.map(({ id, owner_id }) => [id, owner_id]))).toEqual(
    new Map([
      [created, creator],
      [unknown, oldest],
    ]),
  );
  for (const { rights } of rows) expect(rights).toEqual({ permissions: '*' });
});
