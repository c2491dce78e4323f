import { randomUUID } from 'node:crypto';
import type { Sql } from '../../platform/database.ts';
import { startWorkers } from '../../workers/runtime.ts';
import { authority, serverCertificate } from '../emulators/certificates.ts';
import { type Options, type ServiceNowEmulator, startServiceNow } from '../emulators/servicenow/server.ts';
import { closeAfterAll, ok, openApp, type TestApp, type TestClient, type TestResponse } from './harness.ts';
import { untilStatus } from './jobs.ts';

export const syncBase = '/api/v1/itsm-sync';

/** An instance that a connection can be set up to. */
export const startInstance = (options: Options = {}): Promise<ServiceNowEmulator> =>
  startServiceNow({ tls: serverCertificate, ...options });

/** A service with workers, as its administrator uses it; closed after all tests. */
export async function openSyncService() {
  const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
  closeAfterAll(await startWorkers(t.services));
  const runPath = (id: string) => `${syncBase}/sync/runs/${id}`;
  return {
    t,
    db,
    admin,
    connectKind: (kind: string, url: string, more: object) => connectKind(admin, kind, url, more),
    storeMapping: (input: MappingInput) => storeMapping(t, input),
    createMapping: (input: object) => createSync(admin, 'mappings', input),
    /** Maps a table to a card type by name: plans are applied without review, and removals follow at once. */
    map: (
      connection_id: string,
      card_type_key: string,
      remote_table: string,
      { fields = [], ...more }: { fields?: object[] } & Record<string, unknown> = {},
    ) =>
      createSync(admin, 'mappings', {
        connection_id,
        card_type_key,
        remote_table,
        auto_apply: true,
        sync_mode: 'strict',
        quarantine_minutes: 0,
        field_mappings: [{ card_field: 'name', remote_field: 'name', is_identity: true }, ...fields],
        ...more,
      }),
    /** The errors that the validation of a mapping reports. */
    async validate(mappingId: string): Promise<{ field: string; code: string }[]> {
      const { body } = await admin.post(`${syncBase}/mappings/${mappingId}/validate`);
      return body.problems.filter(({ level }: { level: string }) => level === 'error');
    },
    runMapping: (id: string, how?: Direction, query?: string) => runMapping(t, admin, id, how, query),
    settled: (runId: string) => settled(t, admin, runId),
    /** @returns the run that has undone a run. */
    async undoRun(id: string) {
      return await settled(t, admin, (await ok(admin.post(`${runPath(id)}/undo`), 202)).id);
    },
    /** Applies a plan in review. @returns the run afterwards. */
    async applyPlan(id: string, body: object = {}) {
      await ok(admin.post(`${runPath(id)}/apply`, body), 202);
      return await settled(t, admin, id);
    },
    /** Rows of a plan. */
    staged: async (runId: string, query = ''): Promise<TestResponse['body'][]> =>
      (await admin.get(`${runPath(runId)}/staged?page_size=200${query}`)).body.items,
    /** Open review items of a mapping. */
    questions: async (mappingId: string, query = ''): Promise<TestResponse['body'][]> =>
      (await admin.get(`${syncBase}/questions?mapping_id=${mappingId}${query}`)).body.items,
    pairs: async (mappingId: string): Promise<TestResponse['body'][]> =>
      (await admin.get(`${syncBase}/mappings/${mappingId}/pairs?page_size=200`)).body.items,
    /** The card that is paired with a record. */
    cardOf: async (remote_id: string): Promise<string> =>
      (await db('itsm_pairs').where({ remote_id }).first()).card_id,
  };
}

/** The same, and an instance of ServiceNow to keep in step with. */
export async function openSyncTest(options: Options = {}) {
  const service = await openSyncService();
  const instance = closeAfterAll(await startInstance(options));
  return {
    ...service,
    instance,
    connect: () => connectTo(service.admin, instance),
    /** Inserts a record, as another user of the instance. @returns its id. */
    insert: (table: string, values: Record<string, string>, id?: string): string =>
      instance.store.insert(table, values, 'admin', id).values.sys_id!,
    /** The values of a record. */
    recordOf: (id: string) => instance.store.rows.get(id)!.values,
  };
}

/** How the emulated iTop is reached. */
export const itopAccess = {
  auth_type: 'basic',
  username: 'estate',
  password: 'secret',
  time_zone: 'Europe/Paris',
};

/** Makes what the body describes. @returns its id. */
export async function createSync(admin: TestClient, path: string, body: object): Promise<string> {
  const answer = await admin.post(`${syncBase}/${path}`, body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.id;
}

/** A connection of a kind, as it is created. */
export const connectionInput = (kind: string, instance_url: string, more: object) => ({
  name: `${kind} ${randomUUID()}`,
  kind,
  instance_url,
  ca: authority,
  ...more,
});

/** Sets up a connection of a kind. @returns its id. */
export const connectKind = (admin: TestClient, kind: string, instance_url: string, more: object) =>
  createSync(admin, 'connections', connectionInput(kind, instance_url, more));

/** Sets up a connection to the instance. @returns its id. */
export const connectTo = (admin: TestClient, instance: ServiceNowEmulator): Promise<string> =>
  connectKind(admin, 'servicenow', instance.base, { username: 'estate', password: 'secret' });

/** Stores a connection to ServiceNow with these columns, and an administrator who owns it. @returns its id. */
export async function storeConnection(db: Sql, columns: { instance_url: string } & Record<string, unknown>) {
  const [owner] = await db('users')
    .insert({ email: `${randomUUID()}@estate.example`, display_name: 'Owner', role: 'admin' })
    .returning('id');
  const [{ id }] = await db('itsm_connections')
    .insert({
      owner_id: owner.id,
      // a later emulator can have the same address
      name: `${columns.instance_url} ${randomUUID()}`,
      kind: 'servicenow',
      auth_type: 'basic',
      username: 'estate',
      ...columns,
    })
    .returning('id');
  return id;
}

export interface MappingInput {
  connectionId: string;
  cardType?: string;
  table?: string;
  direction?: 'pull' | 'push' | 'bidirectional';
  rule?: string;
  /** Columns of the mapping's row. */
  more?: Record<string, unknown>;
  fields?: readonly {
    card_field: string;
    remote_field: string;
    is_identity?: boolean;
    direction?: string;
    transform_type?: string;
    transform_config?: object;
  }[];
  relations?: {
    relation_type_key: string;
    remote_type: string;
    target_mapping_id?: string;
    reversed?: boolean;
  }[];
}

/** Stores a mapping: names identify, and what moved on both sides is left to a person, unless told otherwise. */
export async function storeMapping({ services: { db } }: { services: { db: Sql } }, input: MappingInput) {
  const [{ id }] = await db('itsm_mappings')
    .insert({
      connection_id: input.connectionId,
      card_type_key: input.cardType ?? 'Application',
      remote_table: input.table ?? 'cmdb_ci_business_app',
      sync_direction: input.direction ?? 'bidirectional',
      sync_mode: 'strict',
      max_deletions: 100,
      max_deletion_ratio: 0.5,
      quarantine_minutes: 0,
      complete_reads: 0,
      auto_apply: true,
      complete_every_hours: 24,
      ...input.more,
    })
    .returning('id');
  const fields = input.fields ?? [
    { card_field: 'name', remote_field: 'name', is_identity: true },
    { card_field: 'description', remote_field: 'short_description' },
  ];
  const rows = fields.map((field, position) => ({
    mapping_id: id,
    position,
    direction: input.rule ?? 'manual',
    transform_type: 'direct',
    ...field,
  }));
  if (rows.length > 0) await db('itsm_field_mappings').insert(rows);
  const relations = input.relations ?? [];
  if (relations.length > 0)
    await db('itsm_relation_mappings').insert(
      relations.map((relation, position) => ({ mapping_id: id, position, ...relation })),
    );
  return id;
}

/** Stores a run of a mapping: a complete one to pull, that a person has started, unless told otherwise. @returns its id. */
export async function storeRun(db: Sql, mapping_id: string, columns: Record<string, unknown> = {}) {
  const { connection_id } = await db('itsm_mappings').where({ id: mapping_id }).first('connection_id');
  const row = { connection_id, mapping_id, direction: 'pull', trigger: 'manual', stage: 'read' };
  const [{ id }] = await db('itsm_runs')
    .insert({ ...row, complete: true, auto_apply: false, ...columns })
    .returning('id');
  return id;
}

type Direction = 'pull' | 'push' | 'run';

/** Starts a run and waits until it needs nobody but a person. @returns it as the API shows it. */
async function runMapping(
  t: TestApp,
  client: TestClient,
  mappingId: string,
  how: Direction = 'run',
  query = '',
): Promise<TestResponse['body']> {
  const started = await client.post(`${syncBase}/sync/${how}/${mappingId}${query}`);
  if (started.status !== 202) throw new Error(started.text);
  return await settled(t, client, started.body.id);
}

/** Waits for the job of a run. */
export async function settled(t: TestApp, client: TestClient, runId: string): Promise<TestResponse['body']> {
  const { body } = await client.get(`${syncBase}/sync/runs/${runId}`);
  await untilStatus(t.services, body.job_id, 'succeeded', 30_000);
  return (await client.get(`${syncBase}/sync/runs/${runId}`)).body;
}
