import { pino } from 'pino';
import { withDiskFullReason } from '../../domain/kernel/health.ts';
import { superviseServer } from '../../platform/embedded-postgres/embedded-postgres.ts';
import { until } from '../support/until.ts';

const folder = '/srv/estate';
const full = () => Object.assign(new Error('no space left'), { code: 'ENOSPC' });

/** Keeps a server that is not there and cannot be brought back. */
async function keepLost(isDiskFull: () => Promise<boolean>, fault: () => Error) {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const tries: number[] = [];
  const supervisor = superviseServer({
    url: 'postgres://nobody:nothing@127.0.0.1:1/none',
    dataDir: folder,
    log,
    isDiskFull,
    pace: { firstMs: 20, longestMs: 80, settledMs: 60_000 },
    bringBack: async () => {
      tries.push(performance.now());
      throw fault();
    },
  });
  await until('some tries', async () => tries.length >= 6);
  await supervisor.close();
  return { lines, waits: tries.slice(1).map((at, n) => at - tries[n]!) };
}

it('says once what to do when the disk is full, and starts the server ever more slowly', async () => {
  const { lines, waits } = await keepLost(async () => true, full);
  expect(lines).toEqual([
    `The disk that holds ${folder} is full: free some space. PostgreSQL is started again until it can write.`,
  ]);
  // timers may fire one millisecond early
  expect(waits[0]).toBeGreaterThanOrEqual(39);
  for (const wait of waits.slice(1)) expect(wait).toBeGreaterThanOrEqual(79);
});

it('reports other faults each time', async () => {
  const { lines } = await keepLost(
    async () => false,
    () => new Error('no such program'),
  );
  expect(lines.length).toBeGreaterThanOrEqual(6);
  expect(lines.join()).not.toContain('is full');
});

it('names a full disk in readiness as the cause of a server that does not answer', async () => {
  const lost = 'not reachable';
  expect(await withDiskFullReason(lost, folder, async () => true)).toBe(
    'not reachable: storage_full, no space is left',
  );
  expect(await withDiskFullReason(lost, folder, async () => false)).toBe(lost);
  expect(await withDiskFullReason(lost, undefined, async () => true)).toBe(lost);
  expect(await withDiskFullReason('ok', folder, async () => true)).toBe('ok');
});
