import type { TestApp, TestClient, TestResponse } from '../../support/harness.ts';
import { createTestApp, pluck } from '../../support/harness.ts';

import rows from './odata.fixture.rows.json' with { type: 'json' };

export const ROOT = '/odata/v4';

/** A small landscape, known by heart. */
export interface Landscape {
  t: TestApp;
  admin: TestClient;
  /** Ids by name. */
  ids: Record<string, string>;
}

const applications: Record<string, Record<string, unknown>> = rows;

/** Makes the landscape in a database of its own. */
export async function createLandscape(): Promise<Landscape> {
  const t = await createTestApp();
  const admin = await t.as('admin');
  const ids: Record<string, string> = {};
  for (const [name, body] of Object.entries(applications))
    ids[name] = (await admin.card({ name, ...body })).id;
  ids.Archived = (await admin.card({ name: 'Archived' })).id;
  await admin.post(`/api/v1/cards/${ids.Archived}/archive`);
  for (const name of ['Database', 'Server', 'Network'])
    ids[name] = (await admin.card({ type: 'ITComponent', name })).id;
  ids.Core = (await admin.card({ type: 'BusinessCapability', name: 'Core' })).id;
  ids.Sales = (await admin.card({ type: 'BusinessCapability', name: 'Sales', parent_id: ids.Core })).id;
  for (const [source, target] of [
    ['Alpha', 'Database'],
    ['Alpha', 'Server'],
    ['Beta', 'Database'],
    ['Archived', 'Network'],
  ] as const) {
    const relation = await t.services
      .db('relations')
      .insert({ type: 'relAppToITC', source_id: ids[source], target_id: ids[target] })
      .returning('id');
    ids[`${source}-${target}`] = relation[0].id;
  }
  return { t, admin, ids };
}

/** Asks the service; options are encoded as a client does it. */
export async function ask(
  client: TestClient,
  path: string,
  options: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const query = Object.entries(options).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return await client.get(`${ROOT}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`, headers);
}

/** The answer to a link, which holds the whole address. */
export async function follow(client: TestClient, link: string, headers: Record<string, string> = {}) {
  const { pathname, search } = new URL(link);
  return await client.get(`${pathname}${search}`, headers);
}

/** The names of the entities of an answer. */
export const namesOf = (answer: TestResponse): string[] => pluck(answer.body.value, 'name');
