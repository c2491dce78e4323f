import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { storeFile } from '../../../domain/kernel/files/files.store.ts';
import { type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

const schedule = () => ({
  name: randomUUID(),
  cron: '0 3 1 1 *',
  request: { format: 'csv' },
  destination: { kind: 'disk' },
});

/** A schedule of the role's own, or of somebody else where the role may have none. */
const own = async (w: World, role: Role) => {
  const maker = ['admin', 'bpm_admin', 'member', 'viewer'].includes(role)
    ? await w.client(role)
    : await w.t.as('admin', 'maker');
  const answer = await maker.post('/api/v1/extraction-schedules', schedule());
  return { id: answer.body.id as string };
};

/** A schedule of somebody who has no column. */
const others = async (w: World) => {
  const answer = await (await w.t.as('admin', 'maker')).post('/api/v1/extraction-schedules', schedule());
  return { path: { id: answer.body.id as string } };
};

const run = async (w: World, role: Role) => {
  const { id } = await own(w, role);
  const { db, blobs } = w.t.services;
  const { owner_id } = await db('extraction_schedules').where({ id }).first('owner_id');
  const facts = {
    name: 'cards.csv',
    mediaType: 'text/csv',
    ownerId: owner_id,
    withCosts: false,
    needs: [],
    expiresAt: null,
  };
  const file = await storeFile({ db, blobs }, Readable.from(['id\n']), facts);
  const manifest = await storeFile({ db, blobs }, Readable.from(['{}']), {
    ...facts,
    name: 'cards.manifest.json',
    mediaType: 'application/json',
  });
  const [made] = await db('extraction_runs')
    .insert({
      schedule_id: id,
      job_id: randomUUID(),
      trigger: 'manual',
      slot: new Date(),
      status: 'succeeded',
      file_id: file.id,
      manifest_id: manifest.id,
    })
    .returning('id');
  return { path: { id, run_id: made.id as string } };
};

const onOwn = async (w: World, role: Role) => ({ path: await own(w, role) });
const base = '/api/v1/extraction-schedules';

/** A public report of the administrator. */
const reportOf = async (w: World) => {
  const maker = await w.client('admin');
  const saved = await maker.post('/api/v1/saved-reports', {
    name: 'Mine',
    // of a report that every login may read
    report_type: 'my-workspace',
    visibility: 'public',
    config: { path: '/reports/my-workspace', search: {} },
  });
  const { request: _, ...other } = schedule();
  return { body: { ...other, report: { saved_report_id: saved.body.id, format: 'csv' } } };
};

const toServer = () => ({
  ...schedule(),
  destination: {
    kind: 'sftp',
    host: 'files.example.com',
    username: 'estate',
    host_key: `SHA256:${'A'.repeat(43)}`,
    password: 'of the test',
  },
});

/** Extraction schedules: the own ones for whoever exports, others' for who keeps the settings. */
export const extractionRows: Row[] = [
  // operation                                            A B M V I P 0
  row(`GET ${base}`, '+ + + + - - 0'),
  row(`POST ${base}`, '+ + + + - - 0', () => ({ body: schedule() })),
  row(`POST ${base} (SFTP)`, '+ + + + - - 0', () => ({ body: toServer() })),
  row(`POST ${base} (report)`, '+ + + + - - 0', reportOf),
  row(`GET ${base}/{id}`, '+ + + + - - 0', onOwn),
  row(`GET ${base}/{id} (others')`, '+ ? ? ? - - 0', others),
  row(`PATCH ${base}/{id}`, '+ + + + - - 0', onOwn, { name: 'Renamed' }),
  row(`PATCH ${base}/{id} (others')`, '+ ? ? ? - - 0', others, { status: 'paused' }),
  row(`DELETE ${base}/{id}`, '+ + + + - - 0', onOwn),
  row(`DELETE ${base}/{id} (others')`, '+ ? ? ? - - 0', others),
  row(`POST ${base}/{id}/run`, '+ + + + - - 0', onOwn),
  row(`POST ${base}/{id}/run (others')`, '+ ? ? ? - - 0', others),
  row(`GET ${base}/{id}/runs`, '+ + + + - - 0', onOwn),
  row(`GET ${base}/{id}/runs (others')`, '+ ? ? ? - - 0', others),
  row(`GET ${base}/{id}/runs/{run_id}`, '+ + + + - - 0', run),
  row(`GET ${base}/{id}/runs/{run_id}/file`, '+ + + + - - 0', run),
  row(`GET ${base}/{id}/runs/{run_id}/manifest`, '+ + + + - - 0', run),
];
