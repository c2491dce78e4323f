import type { Services } from '../../../domain/kernel/services.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { createTestApp, ok, type TestAnswer, type TestApp, type TestClient } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';

export const url = '/api/v1/migration';
const boundary = 'boundary-of-the-test';

export interface MigrationWorld {
  t: TestApp;
  admin: TestClient;
  close(): Promise<void>;
}

/** A service whose workers read and apply migrations. */
export async function createMigrationWorld(): Promise<MigrationWorld> {
  const t = await createTestApp();
  const workers = await startWorkers(t.services);
  return {
    t,
    admin: await t.as('admin'),
    async close() {
      await workers.close(5_000);
      await t.close();
    },
  };
}

export interface Upload {
  source_key?: string;
  name?: string;
  fileName?: string;
  include_archived?: string;
  more?: Record<string, string>;
  headers?: Record<string, string>;
}

/** Uploads a file as a client's form does. */
export async function upload(
  client: TestClient,
  content: Buffer | string,
  given: Upload = {},
): Promise<TestAnswer> {
  const {
    source_key = 'leanix',
    name = 'Move',
    fileName = 'snapshot.xlsx',
    include_archived,
    more = {},
  } = given;
  const fields = { source_key, name, ...(include_archived ? { include_archived } : {}), ...more };
  const payload = Buffer.concat([
    ...Object.entries(fields).map(([field, value]) =>
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`),
    ),
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${fileName}"\r\n\r\n`,
    ),
    Buffer.from(content),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, ...given.headers };
  return await client.request({ method: 'POST', url: `${url}/upload`, payload, headers });
}

/** Waits for the job that has a migration in hand, and reads the migration. */
export async function settled(services: Services, client: TestClient, id: string, limitMs = 60_000) {
  const { body } = await client.get(`${url}/${id}`);
  await untilStatus(services, body.job_id, 'succeeded', limitMs);
  return (await client.get(`${url}/${id}`)).body;
}

/** Uploads a file and waits until its records are made. */
export async function staged(
  services: Services,
  client: TestClient,
  content: Buffer | string,
  given: Upload = {},
) {
  const answer = await ok(upload(client, content, given), 201);
  return await settled(services, client, answer.id);
}

/** Applies a migration and waits until it is. */
export async function applied(services: Services, client: TestClient, id: string) {
  await ok(client.post(`${url}/${id}/apply`), 202);
  return await settled(services, client, id);
}

/** The records of a kind: action and message by name. */
export async function records(client: TestClient, id: string, kind = 'card', more = '') {
  const { body } = await client.get(`${url}/${id}/preview?entity_kind=${kind}&page_size=200${more}`);
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  return body.items as any[];
}

/** The report as lines of cells. */
export async function errorsOf(client: TestClient, id: string): Promise<string[]> {
  const { text } = await client.get(`${url}/${id}/errors.csv`);
  return text.trimEnd().split('\r\n');
}

/** What would become, or has become, of each record, by its name or else its id; with the reason where there is one. */
export const actionsOf = async (client: TestClient, id: string, kind?: string) =>
  Object.fromEntries(
    (await records(client, id, kind)).map(({ display_name, source_id, action, error_message }) => [
      display_name?.trim() || source_id,
      error_message ? `${action}: ${error_message}` : action,
    ]),
  );

/** How many rows there are of what migrations write. */
export async function countsOf({ db }: Services) {
  const of = async (table: string) => Number((await db(table).count())[0]!.count);
  return { cards: await of('cards'), relations: await of('relations'), tags: await of('tags') };
}
