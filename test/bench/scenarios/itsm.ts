import { setTimeout as delay } from 'node:timers/promises';
import { connectServiceNow } from '../../../integrations/exchange/itsm/connectors/servicenow/servicenow.ts';
import { authority } from '../../emulators/certificates.ts';
import { startServiceNow } from '../../emulators/servicenow/server.ts';
import { memoryLimiterStore } from '../../support/memory-limiter.ts';
import { type Api, importCsv, runJob, type Started } from '../harness/api.ts';
import { sampleGrowth, timed } from '../harness/measure.ts';
import { startProgram } from '../harness/programs.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Scenario } from '../harness/scenario.ts';
import { type Service, startService } from '../harness/service.ts';
import type { RemoteOrder, RemoteState } from '../programs/servicenow.ts';

const CHANGES = 5_000;
/** Requests a second that the remote accepts. */
const LIMIT = 40;
const WRITE_MS = 50;
const TABLE = 'cmdb_ci_business_app';

const connect = (url: string, limits = memoryLimiterStore()) =>
  connectServiceNow({
    config: {
      url,
      auth: { kind: 'basic', username: 'estate', password: 'secret' },
      ...(url.startsWith('https') ? { tls: { ca: authority } } : {}),
    },
    outboundAllow: ['127.0.0.1:*'],
    limits,
  });

/** Requests a second that were accepted from some time on, after the limit was halved. */
function paceRow(figure: string, calls: { at: number; refused: boolean }[], from: number): Row {
  const late = calls.filter(({ at }) => at >= from);
  const pace = late.filter(({ refused }) => !refused).length / ((late.at(-1)!.at - from) / 1_000);
  return within(figure, pace, '/s', LIMIT * 0.4, LIMIT / 2 + 1);
}

function refusedRow(figure: string, calls: { refused: boolean }[]): Row {
  const refused = calls.filter((call) => call.refused).length;
  return under(figure, (refused / calls.length) * 100, '%', 1);
}

const CONNECTIONS = 8;
/** Seconds before and after the limit is halved, and how many of the latter the pace may take to follow. */
const WATCHED = 20;
const FOLLOWS = 10;

/** How changes are pushed to a remote that limits requests. */
export const itsmLimits: Scenario = {
  name: 'itsm-limits',
  loadsItself: true,
  async run({ log }) {
    const rows: Row[] = [];
    for (const headers of [true, false]) {
      const how = headers ? 'told' : 'not told';
      const instance = await startServiceNow({ latency: { write: WRITE_MS } });
      instance.rate.rule = { limit: LIMIT, windowMs: 1_000, retryAfter: true, headers };
      /** Creates records over several connections until there are so many, or the seconds are up. */
      const push = async (wanted: number, seconds = Number.POSITIVE_INFINITY): Promise<void> => {
        const limits = memoryLimiterStore();
        const end = performance.now() + seconds * 1_000;
        let next = 0;
        const work = async (): Promise<void> => {
          const remote = connect(instance.base, limits);
          while (next < wanted && performance.now() < end) {
            next += 1;
            await remote.create('cmdb_ci_linux_server', { name: `host ${next}` }, `bench:${next}`);
          }
          await remote.close();
        };
        await Promise.all(Array.from({ length: CONNECTIONS }, work));
      };
      const calls = () => instance.calls.map(({ at, status }) => ({ at, refused: status === 429 }));
      log(`pushing at a limit of ${LIMIT} requests a second, ${how}`);
      const ms = await timed(() => push(CHANGES));
      rows.push(under(`${CHANGES} changes, limit ${how}`, ms / 1_000, 's', 140));
      rows.push(refusedRow(`refused, limit ${how}`, calls()));

      instance.calls.length = 0;
      const halve = setTimeout(() => {
        instance.rate.rule = { ...instance.rate.rule, limit: LIMIT / 2 };
      }, WATCHED * 1_000);
      await push(Number.POSITIVE_INFINITY, WATCHED * 2);
      clearTimeout(halve);
      const from = instance.calls[0]!.at + (WATCHED + FOLLOWS) * 1_000;
      rows.push(paceRow(`pace after the limit was halved, ${how}`, calls(), from));
      await instance.close();
    }
    return rows;
  },
};

/** A remote in a process of its own, a new service, and a mapping of applications between the two. */
interface Sync extends AsyncDisposable {
  service: Service;
  /** The relation types of the remote. */
  types: string[];
  ask(order: RemoteOrder): Promise<RemoteState>;
  base: string;
}

async function startSync(order: RemoteOrder): Promise<Sync> {
  const resources = new AsyncDisposableStack();
  const program = resources.use(startProgram('servicenow'));
  const ask = (message: RemoteOrder) => program.ask<RemoteState>(message);
  const { base, types } = await ask(order);
  const service = resources.use(await startService({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
  return { service, types, base, ask, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Maps applications to a table of the remote; plans are applied automatically. @returns the mapping's id. */
async function mapApplications({ base, service: { api } }: Sync, more: object): Promise<string> {
  const connection = await api.post<{ id: string }>('/itsm-sync/connections', {
    name: 'Remote',
    instance_url: base,
    username: 'estate',
    password: 'secret',
    ca: authority,
  });
  const mapping = await api.post<{ id: string }>('/itsm-sync/mappings', {
    connection_id: connection.id,
    card_type_key: 'Application',
    remote_table: TABLE,
    auto_apply: true,
    field_mappings: [
      { card_field: 'name', remote_field: 'name', is_identity: true },
      { card_field: 'description', remote_field: 'short_description' },
    ],
    ...more,
  });
  return mapping.id;
}

interface RunStats extends Record<string, unknown> {
  created: number;
  deleted: number;
  /** Rows of the plan by action. */
  planned?: Record<string, number>;
}

/** Starts a run and waits for its end. */
async function run(api: Api, path: string): Promise<{ id: string; seconds: number; stats: RunStats }> {
  const { seconds, started } = await runJob(api, `/itsm-sync/sync/${path}`);
  const { stats } = await api.get<{ stats: RunStats }>(`/itsm-sync/sync/runs/${started.id}`);
  return { id: started.id, seconds, stats };
}

/** How long a run goes before the limit is halved, how long it may take to follow, and how long it is watched then. */
const BEFORE_MS = 15_000;
const FOLLOWS_MS = 10_000;
const WATCHED_MS = 15_000;

/** How fast a run pushes to a remote that limits requests, each with one change. */
export const itsmPush: Scenario = {
  name: 'itsm-push',
  loadsItself: true,
  async run({ log }) {
    await using sync = await startSync({ limit: LIMIT, latency: { write: WRITE_MS } });
    const { api } = sync.service;
    const importCards = async (from: number) => {
      const lines = Array.from({ length: CHANGES }, (_, at) => `Application,Pushed ${from + at},Made here`);
      await importCsv(api, 'cards', ['type,name,description', ...lines].join('\n'));
    };
    await importCards(0);
    const mapping = await mapApplications(sync, { sync_direction: 'push' });
    log(`pushing ${CHANGES} cards at a limit of ${LIMIT} requests a second`);
    await sync.ask({});
    const { seconds, stats } = await run(api, `push/${mapping}`);
    log(JSON.stringify(stats));
    if (stats.created !== CHANGES) throw new Error(`${stats.created} records were created`);
    const { calls } = await sync.ask({});

    await importCards(CHANGES);
    log('pushing on, and halving the limit');
    const second = await api.post<Started>(`/itsm-sync/sync/push/${mapping}`, {});
    do await delay(BEFORE_MS);
    while ((await sync.ask({})).calls.length <= LIMIT);
    const { now } = await sync.ask({ limit: LIMIT / 2 });
    await delay(FOLLOWS_MS + WATCHED_MS);
    const late = await sync.ask({});
    await api.post(`/itsm-sync/sync/runs/${second.id}/cancel`, {});
    return [
      under(`${CHANGES} changes pushed by a run`, seconds, 's', 140),
      refusedRow('refused of its requests', calls),
      paceRow('pace of a run 10 s after the limit was halved', late.calls, now + FOLLOWS_MS),
    ];
  },
};

const RECORDS_PER_RELATION = 1.2;
const PAGE_MS = 50;
const PAGE = 1_000;

/** Reads all pages without using them. */
async function readAll({ base, types }: Sync): Promise<void> {
  const remote = connect(base);
  const readPages = async (
    page: (cursor: string | null) => ReturnType<typeof remote.readPage | typeof remote.readRelations>,
  ) => {
    let cursor: string | null = null;
    do ({ next: cursor } = await page(cursor));
    while (cursor !== null);
  };
  const table = { table: TABLE, fields: ['name', 'short_description'], limit: PAGE };
  await readPages((cursor) => remote.readPage({ ...table, cursor }));
  await readPages((cursor) => remote.readRelations({ types, since: null, limit: PAGE, cursor }));
  await remote.close();
}

/** Milliseconds of importing as many cards and relations as the remote has. */
async function importSame(records: number, relations: number): Promise<number> {
  await using service = await startService();
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
  const card = (at: number) =>
    `Application,A-${at},Application ${at},Application number ${at} of the landscape`;
  const cards = ['type,external_id,name,description', ...numbers(records).map(card)].join('\n');
  const link = (at: number) =>
    `relAppSuccessor,A-${at % records},A-${(at + 1 + Math.floor(at / records)) % records}`;
  const links = ['type,source_external_id,target_external_id', ...numbers(relations).map(link)].join('\n');
  return await timed(async () => {
    await importCsv(service.api, 'cards', cards);
    await importCsv(service.api, 'relations', links);
  });
}

/** What a pull writes, apart from its own progress. */
const writtenTables = ['cards', 'relations', 'itsm_pairs', 'itsm_links', 'itsm_remote_links'];

interface Stored {
  /** By table: how many rows, and the last transaction that wrote. */
  states: Record<string, string>;
  /** Events of cards and relations, and those of edits at the remote. */
  events: number;
  edited: number;
  quarantined: number;
}

/** The state of the inventory and of the sync state: any row that is written or removed shows in it. */
async function readStored({ client }: Service): Promise<Stored> {
  const states = writtenTables.map(
    (table) => `(select count(*) || '/' || coalesce(max(xmin::text::bigint), 0) from ${table}) as ${table}`,
  );
  const { rows } = await client.query(`select ${states.join(', ')}`);
  const { rows: counts } = await client.query(`
       select count(*) filter (where event_type ~ '^(card|relation)[.]')::int as events,
       count(*) filter (
         where event_type = 'card.updated' and data #>> '{changes,description,new}' = 'edited')::int as edited,
       (select count(*)::int from itsm_pairs where state = 'quarantined') as quarantined
     from events`);
  return { states: rows[0], ...counts[0] };
}

/** Rows of a run's plan with these actions, or with any; relations of deleted records are deleted with them. */
const planned = ({ planned: rows = {} }: RunStats, actions = Object.keys(rows)): number =>
  actions.reduce((sum, action) => sum + (rows[action] ?? 0), 0);

/** How long it takes to pull a remote's records and relations into the inventory, and to find nothing new. */
export const itsmSync: Scenario = {
  name: 'itsm-sync',
  loadsItself: true,
  async run({ args, log }) {
    const records = Math.min(args.cards, 50_000);
    const relations = Math.round(records * RECORDS_PER_RELATION);
    log(`importing ${records} cards and ${relations} relations`);
    const importMs = await importSame(records, relations);
    const size = { items: records, relations };
    await using sync = await startSync({ populate: size, latency: { list: PAGE_MS } });
    const { service, types } = sync;
    log('reading them without using them');
    const readMs = await timed(() => readAll(sync));
    const mapping = await mapApplications(sync, {
      sync_direction: 'pull',
      sync_mode: 'strict',
      relation_mappings: types.map((remote_type) => ({ relation_type_key: 'relAppSuccessor', remote_type })),
    });
    const pull = () => run(service.api, `run/${mapping}`);
    log('pulling them');
    const stop = sampleGrowth(service.pid);
    const first = await pull();
    const growth = stop();
    log(`by stage: ${JSON.stringify(first.stats)}`);
    if (first.stats.created !== records) throw new Error(`${first.stats.created} cards were created`);
    await sync.ask({});
    log('pulling again');
    const before = await readStored(service);
    const second = await pull();
    const after = await readStored(service);
    const changedTables = writtenTables.filter((table) => before.states[table] !== after.states[table]);
    const { calls } = await sync.ask({ edits: 100, deletes: 10 });
    const callsByTable = Map.groupBy(calls, ({ table }) => table);
    const third = await pull();
    const end = await readStored(service);
    return [
      under(`first pull of ${records} records`, first.seconds, 's', 1.5, (readMs + importMs) / 1_000),
      under('memory that it takes', growth, 'MB', 150),
      within(
        'calls per table of a second pull',
        Math.max(...[...callsByTable.values()].map(({ length }) => length)),
        'calls',
        0,
        5,
      ),
      within('rows of its plan', planned(second.stats), 'rows', 0),
      within(
        'tables and events that it writes',
        changedTables.length + after.events - before.events,
        'writes',
        0,
      ),
      within(
        'rows after 100 edits and 10 deletes',
        planned(third.stats, ['update', 'quarantine']),
        'rows',
        110,
      ),
      within('edits that arrived', end.edited, 'cards', 100),
      within('deletes that arrived', end.quarantined, 'pairs', 10),
    ];
  },
};

/** How long it takes to undo a pull, compared with the pull. */
export const itsmUndo: Scenario = {
  name: 'itsm-undo',
  loadsItself: true,
  async run({ args, log }) {
    const records = Math.min(args.cards, 50_000);
    await using sync = await startSync({ populate: { items: records, relations: 0 } });
    const { api } = sync.service;
    const mapping = await mapApplications(sync, { sync_direction: 'pull' });
    log(`pulling ${records} records`);
    const pull = await run(api, `run/${mapping}`);
    log('undoing the run');
    const undo = await run(api, `runs/${pull.id}/undo`);
    log(`by stage: ${JSON.stringify(undo.stats.seconds)}`);
    if (undo.stats.deleted !== records) throw new Error(`${undo.stats.deleted} cards were archived`);
    return [under(`undo of a pull of ${records} records`, undo.seconds, 's', 3, pull.seconds)];
  },
};
