import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { connectServiceNow } from '../../../integrations/exchange/itsm/connectors/servicenow/servicenow.ts';
import { openDatabase } from '../../../platform/database.ts';
import { authority } from '../../emulators/certificates.ts';
import { memoryLimiterStore } from '../../support/memory-limiter.ts';
import { importCsv } from '../harness/api.ts';
import { mapApplications, type RemoteProcess, runOnce, type SyncRun, startRemote } from '../harness/itsm.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';

const RECORDS_PER_RELATION = 1.2;
const PAGE_MS = 50;
const PAGE = 1_000;

type Remote = RemoteProcess<
  { types: string[] },
  { edits?: number; deletes?: number },
  { calls: Record<string, number> }
>;

/** Seconds for reading all pages and throwing them away. */
async function readAway({ hello: { base, types } }: Remote): Promise<number> {
  const remote = connectServiceNow({
    config: {
      url: base,
      auth: { kind: 'basic', username: 'estate', password: 'secret' },
      tls: { ca: authority },
    },
    outboundAllow: ['127.0.0.1:*'],
    limits: memoryLimiterStore(),
  });
  const start = performance.now();
  const walk = async (
    page: (cursor: string | null) => ReturnType<typeof remote.readPage | typeof remote.readRelations>,
  ) => {
    let cursor: string | null = null;
    do {
      ({ next: cursor } = await page(cursor));
    } while (cursor !== null);
  };
  const table = { table: 'cmdb_ci_business_app', fields: ['name', 'short_description'], limit: PAGE };
  await walk((cursor) => remote.readPage({ ...table, cursor }));
  await walk((cursor) => remote.readRelations({ types, since: null, limit: PAGE, cursor }));
  await remote.close();
  return (performance.now() - start) / 1000;
}

/** Seconds for importing as many cards and relations as the remote has. */
async function importSame(records: number, relations: number): Promise<number> {
  const service = await startService();
  try {
    const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
    const card = (at: number) =>
      `Application,A-${at},Application ${at},Application number ${at} of the landscape`;
    const cards = ['type,external_id,name,description', ...numbers(records).map(card)].join('\n');
    const link = (at: number) =>
      `relAppSuccessor,A-${at % records},A-${(at + 1 + Math.floor(at / records)) % records}`;
    const links = ['type,source_external_id,target_external_id', ...numbers(relations).map(link)].join('\n');
    const start = performance.now();
    await importCsv(service.api, 'cards', cards);
    await importCsv(service.api, 'relations', links);
    return (performance.now() - start) / 1000;
  } finally {
    await service.stop();
  }
}

/** Resident megabytes of a process. */
async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
}

/** The highest number that a measure shows while something runs. */
async function peakDuring<T>(measure: () => Promise<number>, work: Promise<T>): Promise<[T, number]> {
  let peak = 0;
  let running = true;
  const watch = (async () => {
    while (running) {
      peak = Math.max(peak, await measure());
      await delay(100);
    }
  })();
  try {
    return [await work, peak];
  } finally {
    running = false;
    await watch;
  }
}

/** What a pull writes; what it keeps of its own way is left out. */
const written = ['cards', 'relations', 'itsm_pairs', 'itsm_links', 'itsm_remote_links'];

/** What the inventory and the book hold: any row that is written or removed shows in it. */
async function standing(databaseUrl: string): Promise<Standing> {
  const db = openDatabase({ url: databaseUrl, name: 'bench', poolMax: 1 });
  try {
    const states = written.map(
      (table) => `(select count(*) || '/' || coalesce(max(xmin::text::bigint), 0) from ${table}) as ${table}`,
    );
    const { rows } = await db.raw(`select ${states.join(', ')}`);
    const feed = await db.raw(
      `select count(*) filter (where event_type ~ '^(card|relation)[.]') as written,
         count(*) filter (where event_type = 'card.updated' and data #>> '{changes,description,new}' = 'edited') as edited
       from events`,
    );
    const pairs = await db.raw(`select count(*) as quarantined from itsm_pairs where state = 'quarantined'`);
    return { states: rows[0], ...feed.rows[0], ...pairs.rows[0] };
  } finally {
    await db.destroy();
  }
}

interface Standing {
  /** By table: how many rows, and the transaction that has written last. */
  states: Record<string, string>;
  /** Events of cards and relations, and those that tell of an edit outside. */
  written: number;
  edited: number;
  quarantined: number;
}

async function run({ args, log }: Context): Promise<Row[]> {
  const records = Math.min(args.cards, 50_000);
  const relations = Math.round(records * RECORDS_PER_RELATION);
  log(`importing ${records} cards and ${relations} relations`);
  const imported = await importSame(records, relations);
  const remote: Remote = await startRemote('itsm-sync.remote.ts', records, relations, PAGE_MS);
  const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1:*' });
  try {
    log('reading them away');
    const read = await readAway(remote);
    const mappingId = await mapApplications(service.api, remote.hello.base, {
      sync_direction: 'pull',
      sync_mode: 'strict',
      relation_mappings: remote.hello.types.map((remote_type) => ({
        relation_type_key: 'relAppSuccessor',
        remote_type,
      })),
    });
    const before = await residentMb(service.pid);
    await remote.ask({});
    log('pulling them');
    const start = performance.now();
    const [first, peak] = await peakDuring(() => residentMb(service.pid), runOnce(service.api, mappingId));
    const pulled = (performance.now() - start) / 1000;
    log(`by stage: ${JSON.stringify(first.stats)}`);
    if (first.stats.created !== records) throw new Error(`${first.stats.created} cards: ${first.status}`);
    await remote.ask({});
    log('pulling again');
    const was = await standing(service.databaseUrl);
    const second = await runOnce(service.api, mappingId);
    const is = await standing(service.databaseUrl);
    const touched =
      written.filter((_, n) => was.states[n] !== is.states[n]).length + is.written - was.written;
    const { calls } = await remote.ask({ edits: 100, deletes: 10 });
    const third = await runOnce(service.api, mappingId);
    const end = await standing(service.databaseUrl);
    const floor = read + imported;
    return [
      under({ figure: `first pull of ${records} records`, value: pulled, unit: 's', floor }, 1.5),
      under({ figure: 'memory that it takes', value: peak - before, unit: 'MB' }, 150),
      within(
        {
          figure: 'calls per table of a second pull',
          value: Math.max(...Object.values(calls)),
          unit: 'calls',
        },
        0,
        5,
      ),
      within({ figure: 'rows of its plan', value: planned(second), unit: 'rows' }, 0, 0),
      within({ figure: 'tables and events that it writes', value: touched, unit: 'writes' }, 0, 0),
      within(
        {
          figure: 'rows after 100 edits and 10 deletes',
          value: planned(third, ['update', 'quarantine']),
          unit: 'rows',
        },
        110,
        110,
      ),
      within({ figure: 'edits that arrived', value: end.edited, unit: 'cards' }, 100, 100),
      within({ figure: 'deletes that arrived', value: end.quarantined, unit: 'pairs' }, 10, 10),
    ];
  } finally {
    remote.stop();
    await service.stop();
  }
}

/** Rows of a run's plan, of these actions alone where some are named; relations of what is gone go with it. */
const planned = ({ stats }: SyncRun, actions?: string[]): number =>
  Object.entries((stats.planned ?? {}) as unknown as Record<string, number>).reduce(
    (sum, [action, n]) => sum + (actions === undefined || actions.includes(action) ? n : 0),
    0,
  );

/** How long it takes to bring a remote's records and relations into the inventory, and to find nothing new. */
export const itsmSync = { name: 'itsm-sync', run };
