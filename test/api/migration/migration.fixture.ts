import { startWorkers } from '../../../workers/runtime.ts';
import { form } from '../../support/forms.ts';
import { closeAfterAll, ok, openApp, type TestClient } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';

export const url = '/api/v1/migration';

export interface Upload {
  source_key?: string;
  name?: string;
  fileName?: string;
  include_archived?: string;
  more?: Record<string, string>;
  headers?: Record<string, string>;
}

/** Uploads a file as a client's form does. */
export async function upload(client: TestClient, content: Buffer | string, given: Upload = {}) {
  const {
    source_key = 'leanix',
    name = 'Move',
    fileName = 'snapshot.xlsx',
    include_archived,
    more = {},
  } = given;
  const fields = { source_key, name, ...(include_archived ? { include_archived } : {}), ...more };
  const { payload, headers: own } = form(
    ...Object.entries(fields).map(([field, value]) => ({ name: field, content: `${value}` })),
    { filename: fileName, content },
  );
  const headers = { ...own, ...given.headers };
  return await client.request({ method: 'POST', url: `${url}/upload`, payload, headers });
}

/** The records of a kind. */
export async function recordsAs(client: TestClient, id: string, kind = 'card', more = '') {
  const { body } = await client.get(`${url}/${id}/preview?entity_kind=${kind}&page_size=200${more}`);
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  return body.items as any[];
}

/** The application with workers that read and apply migrations, and what an administrator does with these. */
export async function openMigrations() {
  const { t, db, admin } = await openApp(['admin']);
  closeAfterAll(await startWorkers(t.services));
  const records = (id: string, kind?: string, more?: string) => recordsAs(admin, id, kind, more);

  /** Waits for the job that works on a migration, and reads the migration. */
  async function settled(id: string) {
    const { body } = await admin.get(`${url}/${id}`);
    await untilStatus(t.services, body.job_id, 'succeeded', 60_000);
    return (await admin.get(`${url}/${id}`)).body;
  }

  return {
    ...{ t, db, admin, records, settled },
    upload: (content: Buffer | string, given?: Upload) => upload(admin, content, given),
    /** Uploads a file and waits until its records are made. */
    async staged(content: Buffer | string, given: Upload = {}) {
      return await settled((await ok(upload(admin, content, given), 201)).id);
    },
    /** Saves a mapping and waits until the records are made again. */
    async mapped(id: string, field_mappings: object) {
      await ok(admin.put(`${url}/${id}/field-mappings`, { field_mappings }));
      return await settled(id);
    },
    /** Applies a migration and waits until it is. */
    async applied(id: string) {
      await ok(admin.post(`${url}/${id}/apply`), 202);
      return await settled(id);
    },
    /** The report as lines of cells. */
    errorsOf: async (id: string) => (await admin.get(`${url}/${id}/errors.csv`)).text.trimEnd().split('\r\n'),
    /** What would become, or has become, of each record, by its name or else its id; with the reason where there is one. */
    actions: async (id: string, kind?: string) =>
      Object.fromEntries(
        (await records(id, kind)).map(({ display_name, source_id, action, error_message }) => [
          display_name?.trim() || source_id,
          error_message ? `${action}: ${error_message}` : action,
        ]),
      ),
    /** How many rows there are of what migrations write. */
    async counts() {
      const of = async (table: string) => Number((await db(table).count())[0]!.count);
      return { cards: await of('cards'), relations: await of('relations'), tags: await of('tags') };
    },
  };
}
