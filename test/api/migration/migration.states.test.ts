import { randomUUID } from 'node:crypto';
import { openApp } from '../../support/harness.ts';
import { createStates } from '../../support/states.ts';

/*
 * What becomes of migrations and of transfers of whole workspaces in each state, by each action of each role. The tables are
 * those of the specification, and ask no rule of the service.
 */

const { t, db } = await openApp();
const states = await createStates(t, { 'admin.migrate': ['admin'], 'admin.import_workspace': ['admin'] });

/** The status as it is shown, null for what is gone. */
const shown = (url: string) => async (id: string) => {
  const { status, body } = await states.clients.admin.get(`${url}/${id}`);
  return status === 404 ? null : body.status;
};

/** A job that has ended so. */
async function ended(status: string): Promise<string> {
  const [{ id }] = await db('jobs')
    .insert({ kind: 'export', queue: 'bulk', status, finished_at: new Date() })
    .returning('id');
  return id;
}

it('a migration', async () => {
  const url = '/api/v1/migration';
  const columns = [{ key: 'name', label: null, values: 1, data_type: 'text' }];
  const inHand = ['uploaded', 'parsed', 'applying'];
  const others = ['previewed', 'failed', 'aborted'];
  await states.tryAll({
    table: 'migrations',
    column: 'status',
    states: [...inHand, ...others, 'applied'],
    actions: {
      map: (client, id) =>
        client.put(`${url}/${id}/field-mappings`, { field_mappings: { Platforms: { name: 'alias' } } }),
      apply: (client, id) => client.post(`${url}/${id}/apply`),
      delete: (client, id) => client.delete(`${url}/${id}`),
    },
    permission: () => 'admin.migrate',
    moves: {
      ...Object.fromEntries(others.map((state) => [`${state} map`, 'parsed'])),
      ...Object.fromEntries(others.map((state) => [`${state} apply`, 'applying'])),
      ...Object.fromEntries([...others, 'applied'].map((state) => [`${state} delete`, null])),
    },
    read: shown(url),
    async make(state, again) {
      const id = again ?? randomUUID();
      const job = state === 'failed' ? 'failed' : state === 'aborted' ? 'cancelled' : 'queued';
      await db('migrations')
        .insert({
          id,
          name: 'Move',
          source_type: 'sheet',
          status: 'uploaded',
          file_id: randomUUID(),
          file_name: 'Platforms.csv',
          file_hash: id,
          file_size: 1,
          blocks: JSON.stringify([{ native_type: 'Platforms', rows: 1, columns }]),
        })
        .onConflict('id')
        .ignore();
      await db('migrations')
        .where({ id })
        .update({
          status: job === 'queued' ? state : 'applying',
          job_id: await ended(job),
          parsed_at: state === 'uploaded' ? null : new Date(),
          previewed_at: inHand.includes(state) ? null : new Date(),
        });
      return id;
    },
  });
});

it('a transfer of a workspace', async () => {
  const url = '/api/v1/admin/workspace/import';
  await states.tryAll({
    table: 'workspace_transfers',
    column: 'status',
    states: ['parsing', 'previewed', 'applying', 'applied', 'failed'],
    actions: {
      apply: (client, id) => client.post(`${url}/${id}/apply`),
      discard: (client, id) => client.delete(`${url}/${id}`),
    },
    permission: () => 'admin.import_workspace',
    moves: {
      'previewed apply': 'applying',
      'parsing discard': null,
      'previewed discard': null,
      'applied discard': null,
      'failed discard': null,
    },
    read: shown(url),
    async make(status, again) {
      const id = again ?? randomUUID();
      await db('workspace_transfers')
        .insert({ id, filename: 'w.zip', file_id: randomUUID(), status, job_id: null })
        .onConflict('id')
        .merge({ status, job_id: null });
      return id;
    },
  });
});
