import { between, pick } from '../bench/landscape/random.ts';
import type { StartedJob } from './world.ts';
import type { Act, Hand } from './writer.ts';

const csv = (rows: string[][]) => rows.map((row) => row.join(',')).join('\n');

async function start(hand: Hand, path: string, body: unknown, job: Omit<StartedJob, 'id'>) {
  const answer = await hand.write('POST', path, body);
  if (!answer) return undefined;
  const started = { ...job, id: answer.body.job_id as string };
  hand.world.jobs.push(started);
  return started;
}

/** Waits for the end of a job; whether it ended as it must is looked at in the end. */
async function succeeded(hand: Hand, job: StartedJob | undefined): Promise<boolean> {
  for (let look = 0; job && look < 600; look += 1) {
    const status = (await hand.send('GET', `/jobs/${job.id}`).catch(() => undefined))?.body?.status;
    if (status === 'succeeded') return true;
    if (status === 'failed' || status === 'cancelled') return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

/** New applications and components, children before their parents, and a row that cannot be. */
async function importNew(hand: Hand): Promise<void> {
  const prefix = hand.token();
  const rows = between(hand.random, 20, 800);
  const ids = Array.from({ length: rows }, (_, at) => `${prefix}r${at}`);
  const type = (at: number) => (at % 3 === 2 ? 'ITComponent' : 'Application');
  const lines = ids.map((id, at) => [
    type(at),
    id,
    `Card ${id}`,
    at % 6 === 0 && at + 3 < rows ? `${prefix}r${at + 3}` : '',
  ]);
  const job = await start(
    hand,
    '/imports?kind=cards&mode=create',
    csv([
      ['type', 'external_id', 'name', 'parent_external_id'],
      ...lines,
      ['NoSuchType', `${prefix}x`, 'Nothing', ''],
    ]),
    { what: 'import', prefix, rows: rows + 1, faultyRows: 1 },
  );
  if (await succeeded(hand, job)) {
    hand.world.imported.applications.push(...ids.filter((_, at) => type(at) === 'Application'));
    hand.world.imported.components.push(...ids.filter((_, at) => type(at) === 'ITComponent'));
  }
}

/** Changes imported cards by their external ids; those that were deleted meanwhile are made again. */
async function importChanges(hand: Hand): Promise<void> {
  const { applications } = hand.world.imported;
  if (applications.length < 20) return;
  const prefix = hand.token();
  const chosen = [...new Set(Array.from({ length: 60 }, () => pick(hand.random, applications)))];
  const dry = hand.random() < 0.3;
  const job = await start(
    hand,
    `/imports?kind=cards&mode=upsert&dry_run=${dry}`,
    csv([
      ['type', 'external_id', 'name', 'alias'],
      ...chosen.map((id, at) => ['Application', id, `Card ${id}`, `${prefix}r${at}`]),
    ]),
    { what: dry ? 'dry run' : 'import', prefix, rows: chosen.length },
  );
  await succeeded(hand, job);
}

async function importRelations(hand: Hand): Promise<void> {
  const { applications, components } = hand.world.imported;
  if (applications.length < 20 || components.length < 20) return;
  const prefix = hand.token();
  const pairs = new Set(
    Array.from({ length: 80 }, () => `${pick(hand.random, applications)},${pick(hand.random, components)}`),
  );
  const job = await start(
    hand,
    '/imports?kind=relations&mode=create',
    csv([
      ['type', 'source_external_id', 'target_external_id', 'description'],
      ...[...pairs].map((pair, at) => ['relAppToITC', pair, `${prefix}r${at}`]),
    ]),
    { what: 'import', prefix, rows: pairs.size },
  );
  await succeeded(hand, job);
}

async function exportAll(hand: Hand): Promise<void> {
  const format = pick(hand.random, ['csv', 'csv', 'ndjson', 'xlsx']);
  const job = await start(hand, '/exports', { format, kind: 'cards' }, { what: 'export' });
  if (job && hand.random() < 0.15) {
    job.cancelled = true;
    await hand.write('POST', `/jobs/${job.id}/cancel`);
  }
  await succeeded(hand, job);
}

/** Everything that starts a job; who does so waits for its end before the next act. */
export const jobActs: Act[] = [
  { name: 'import new', weight: 3, run: importNew },
  { name: 'import changes', weight: 3, run: importChanges },
  { name: 'import relations', weight: 2, run: importRelations },
  { name: 'export', weight: 3, run: exportAll },
];
