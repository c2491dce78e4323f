import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import yauzl from 'yauzl';
import { type Api, apiAt, drain, exportByJob } from '../harness/api.ts';
import { cardIds } from '../harness/database.ts';
import { median, sampleGrowth, timed, timesOf } from '../harness/measure.ts';
import { startProgram } from '../harness/programs.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context, Scenario } from '../harness/scenario.ts';
import { type Service, startService } from '../harness/service.ts';
import { loadLandscape, smallSize } from '../harness/workspace.ts';

/** An API of its own with so many cards and as many relations, and no worker. */
async function startLoaded({ args }: Context, cards: number): Promise<Service> {
  const service = await startService({}, 'api');
  const loader = await service.join('worker');
  await loadLandscape(service, { ...args, cards, relations: cards });
  await loader.stop();
  return service;
}

/** The median milliseconds of some rounds, and the most by which the process grew over all of them, in megabytes. */
async function measureWork(pid: number, rounds: number, work: () => Promise<void>) {
  const stop = sampleGrowth(pid);
  return { ms: median(await timesOf(rounds, work)), growth: stop() };
}

const countCards = async ({ client }: Context): Promise<number> => {
  return (await client.query<{ n: number }>('select count(*)::int as n from cards')).rows[0]!.n;
};

const CSV_ROUNDS = 3;

/** All cards as CSV, request to last byte: by a job, and streamed at once. */
export const exportCsv: Scenario = {
  name: 'export-csv',
  async run(context) {
    const { service, api } = context;
    const unit = await context.unit();
    const lines = (await countCards(context)) + 1;
    let short = 0;
    const rows: Row[] = [];
    for (const [name, read] of [
      ['CSV of all, by a job', () => exportByJob(api, 'csv')],
      ['CSV of all, streamed', async () => drain(await api.fetch('/cards/export/csv'))],
    ] as const) {
      const { ms, growth } = await measureWork(service.pid, CSV_ROUNDS, async () => {
        if ((await read()).lineBreaks < lines) short += 1;
      });
      rows.push(under(name, ms, 'ms', 4, unit), under(`${name}, memory growth`, growth, 'MB', 100));
    }
    return [...rows, within('CSV files that lack lines', short, 'files', 0)];
  },
};

const XLSX_ROUNDS = 3;
/** So many processes each, since what a garbage collector leaves differs from process to process. */
const WORKERS = 3;

/**
 * The median growth of workers that have exported a few cards while they export all of so many, in megabytes. Of fewer
 * cards more often, until as many rows are written: a process also grows by what it has done.
 */
async function workerGrowth(
  context: Context,
  cards: number,
  more: { layout?: 'sheet_per_type' } = {},
): Promise<number> {
  const rounds = Math.round((XLSX_ROUNDS * context.args.cards) / cards);
  await using service = await startLoaded(context, cards);
  const each: number[] = [];
  for (let n = 0; n < WORKERS; n += 1) {
    const worker = await service.join('worker');
    // it has begun when this is there
    await exportByJob(service.api, 'xlsx', { types: ['Platform'] });
    const { growth } = await measureWork(worker.pid, rounds, async () => {
      await exportByJob(service.api, 'xlsx', more);
    });
    each.push(growth);
    await worker.stop();
  }
  return median(each);
}

/** All cards as XLSX by a job, compared with the library's own writer on the same cells in a process of its own. */
export const exportXlsx: Scenario = {
  name: 'export-xlsx',
  async run(context) {
    const { service, api, args } = context;
    const baselines: number[] = [];
    const times = await timesOf(
      XLSX_ROUNDS,
      () => exportByJob(api, 'xlsx'),
      async () => {
        using program = startProgram('xlsx');
        baselines.push(await program.ask<number>({ databaseUrl: service.databaseUrl }));
      },
    );
    const growth = await workerGrowth(context, args.cards);
    const small = await workerGrowth(context, smallSize(args.cards));
    return [
      under('XLSX of all', median(times), 'ms', 1.5, median(baselines)),
      under('XLSX of all, memory growth beside a fifth of the cards', growth, 'MB', 1.2, small),
    ];
  },
};

/** A workbook for editing of all cards and relations, beside both as CSV with the same columns. */
export const exportWorkbook: Scenario = {
  name: 'export-workbook',
  async run(context) {
    const { api } = context;
    const layout = 'sheet_per_type' as const;
    const profile = 'roundtrip' as const;
    const csv: number[] = [];
    const times = await timesOf(
      XLSX_ROUNDS,
      () => exportByJob(api, 'xlsx', { layout }),
      async () => {
        csv.push(
          await timed(async () => {
            await exportByJob(api, 'csv', { profile });
            await exportByJob(api, 'csv', { profile, kind: 'relations' });
          }),
        );
      },
    );
    const growth = await workerGrowth(context, context.args.cards, { layout });
    return [
      under('workbook for editing of all', median(times), 'ms', 2, median(csv)),
      under('workbook for editing of all, memory growth', growth, 'MB', 128),
    ];
  },
};

const EXTRACT_ROUNDS = 5;
/** What takes a few hundredths of a second is repeated more often. */
const SHORT_ROUNDS = 60;
/** Rounds in which memory may grow; of fewer cards more, until as many rows are written: a process also grows by what it has done. */
const GROWTH_ROUNDS = 3;
const CHANGES = 1_000;

const formats = [
  ['csv', 3],
  ['ndjson', 3],
  ['parquet', 5],
] as const;

const extract = async (api: Api, query: string) => await drain(await api.fetch(`/extracts/cards?${query}`));

/** So many processes each, since what a garbage collector leaves differs from process to process. */
const APIS = 5;

/** The median growth of APIs that have just started while they stream all cards, in megabytes, by format. */
async function growths({ api, join }: Service, rounds: number): Promise<Record<string, number>> {
  const grown: Record<string, number> = {};
  for (const [format] of formats) {
    const each: number[] = [];
    for (let n = 0; n < APIS; n += 1) {
      const started = await join('api');
      const { growth } = await measureWork(started.pid, rounds, async () => {
        await extract(apiAt(started.url, api.headers), `format=${format}`);
      });
      each.push(growth);
      await started.stop();
    }
    grown[format] = median(each);
  }
  return grown;
}

/** Changes cards in one batch. @returns the milliseconds of asking for what has changed, and how many extracts were short. */
async function extractChanges({ api, client }: Context): Promise<{ ms: number; short: number }> {
  const ids = await cardIds(client, 'Application', CHANGES);
  const { next } = await api.get<{ next: string }>('/changes?after=now');
  await api.patch('/cards/bulk', { ids, updates: { description: 'Extracted' } });
  // followers of the feed work on the changes: that is not part of asking for them
  for (;;) {
    const { rows } = await client.query<{ behind: boolean }>(`select min(position) < (
      select max(position) from events) as behind from feed_followers`);
    if (!rows[0]!.behind) break;
    await delay(100);
  }
  let short = 0;
  const times = await timesOf(SHORT_ROUNDS, async () => {
    // the last line marks the end
    if ((await extract(api, `after=${next}`)).lineBreaks < ids.length + 1) short += 1;
  });
  return { ms: median(times), short };
}

/** All cards in every format, request to last byte, by a job and streamed; and what has changed among them. */
export const extracts: Scenario = {
  name: 'extracts',
  async run(context) {
    const { service, api, args } = context;
    const unit = await context.unit();
    const lines = await countCards(context);
    let short = 0;
    const rows: Row[] = [];
    for (const [format, limit] of formats) {
      for (const [how, read] of [
        ['by a job', () => exportByJob(api, format)],
        ['streamed', () => extract(api, `format=${format}`)],
      ] as const) {
        const times = await timesOf(EXTRACT_ROUNDS, async () => {
          const { lineBreaks } = await read();
          if (format !== 'parquet' && lineBreaks < lines) short += 1;
        });
        rows.push(under(`${format} of all, ${how}`, median(times), 'ms', limit, unit));
      }
    }
    const large = await growths(service, GROWTH_ROUNDS);
    const few = smallSize(args.cards);
    await using loaded = await startLoaded(context, few);
    const small = await growths(loaded, Math.round((GROWTH_ROUNDS * args.cards) / few));
    for (const [format] of formats) {
      const figure = `${format} of all, memory growth beside a fifth of the cards`;
      rows.push(under(figure, large[format]!, 'MB', 1.2, small[format]!));
    }
    // minutes later the machine may be faster or slower
    const later = await context.unit();
    const changed = await extractChanges(context);
    return [
      ...rows,
      under(`what ${CHANGES} changes are`, changed.ms, 'ms', 0.1, later),
      within('extracts that lack lines', short + changed.short, 'files', 0),
    ];
  },
};

interface Transfer {
  id: string;
  status: string;
  diff: { totals: Record<string, number> } | null;
  result: { totals: Record<string, number>; left: unknown[] } | null;
  error_message: string | null;
}

const readArchive = async (api: Api): Promise<Buffer> =>
  Buffer.from(await (await api.fetch('/admin/workspace/export?include_archived=true')).arrayBuffer());

/** The checksums of all parts but the manifest, which describes its own export. */
async function checksums(archive: Buffer): Promise<Map<string, string>> {
  const zip = await yauzl.fromBufferPromise(archive, { lazyEntries: true, autoClose: false });
  const sums = new Map<string, string>();
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName === 'manifest.json') continue;
    const content = await buffer(await zip.openReadStreamPromise(entry));
    sums.set(entry.fileName, createHash('sha256').update(content).digest('hex'));
  }
  return sums;
}

async function untilNot(api: Api, id: string, status: string): Promise<Transfer> {
  for (;;) {
    const transfer = await api.get<Transfer>(`/admin/workspace/import/${id}`);
    if (transfer.status === 'failed') throw new Error(`The transfer has failed: ${transfer.error_message}`);
    if (transfer.status !== status) return transfer;
    await delay(50);
  }
}

/** A whole workspace out of one service, into an empty one, and out of that again. */
export const workspace: Scenario = {
  name: 'workspace',
  onlyNamed: true,
  async run({ service, api, log }) {
    const stopSending = sampleGrowth(service.pid);
    let bytes: Buffer = Buffer.alloc(0);
    const exportMs = await timed(async () => {
      bytes = await readArchive(api);
    });
    const sent = stopSending();
    log(`exported ${(bytes.length / 1_000_000).toFixed(1)} MB`);

    await using empty = await startService();
    const stopReceiving = sampleGrowth(empty.pid);
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(bytes)], { type: 'application/zip' }), 'workspace.zip');
    const uploaded = performance.now();
    const answer = await empty.api.fetch('/admin/workspace/import', { method: 'POST', body: form });
    const { id } = (await answer.json()) as Transfer;
    const previewed = await untilNot(empty.api, id, 'parsing');
    const read = performance.now();
    log(`previewed ${JSON.stringify(previewed.diff!.totals)}`);
    await empty.api.post(`/admin/workspace/import/${id}/apply`, {});
    const applied = await untilNot(empty.api, id, 'applying');
    const written = performance.now();
    const received = stopReceiving();
    log(`applied ${JSON.stringify(applied.result!.totals)}`);

    const [before, after] = [await checksums(bytes), await checksums(await readArchive(empty.api))];
    const names = new Set([...before.keys(), ...after.keys()]);
    const different = [...names].filter((name) => before.get(name) !== after.get(name));
    if (different.length > 0) log(`different: ${different.join(', ')}`);
    return [
      under('workspace, export', exportMs / 1_000, 's', 60),
      under('workspace, upload and preview', (read - uploaded) / 1_000, 's', 120),
      under('workspace, apply into an empty service', (written - read) / 1_000, 's', 300),
      under('workspace, memory growth of the export', sent, 'MB', 200),
      under('workspace, memory growth of the import', received, 'MB', 300),
      within('workspace, rows left alone', applied.result!.left.length, 'rows', 0),
      within('workspace, parts that came out otherwise', different.length, 'parts', 0),
    ];
  },
};
