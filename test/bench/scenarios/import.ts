import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { importFile } from '../harness/api.ts';
import { connect } from '../harness/database.ts';
import { sampleMemory } from '../harness/memory.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';
import { median } from '../harness/stats.ts';
import { measureCopyIntoTwins } from '../harness/twins.ts';
import { prepareWorkspace } from '../harness/workspace.ts';
import { type LandscapeFiles, writeLandscape } from '../landscape/csv.ts';

const MB = 1_000_000;
/** Memory is compared with that of an import of this many cards. */
const SMALL = 20_000;

/** So many services of each size, since what a collector of garbage leaves differs from process to process. */
const ROUNDS = 3;

/** By how many bytes a fresh service grows when it imports these files. */
async function growthOf({ cardsFile, relationsFile }: LandscapeFiles): Promise<number> {
  await using resources = new AsyncDisposableStack();
  const service = resources.adopt(await startService(), (started) => started.stop());
  const client = resources.adopt(await connect(service.databaseUrl), (connection) => connection.end());
  await prepareWorkspace(client);
  const memory = sampleMemory([service.pid]);
  await importFile(service.api, 'cards', cardsFile);
  await importFile(service.api, 'relations', relationsFile);
  return memory.stop().growthBytes;
}

/** The growths in bytes of services that import the whole and of as many that import a small landscape. */
async function growths({ args, files }: Context, first: number): Promise<{ all: number[]; small: number[] }> {
  const cards = Math.min(SMALL, Math.floor(args.cards / 5));
  const out = await mkdtemp(path.join(os.tmpdir(), 'estate-bench-small-'));
  try {
    const few = await writeLandscape({ out, cards, relations: cards * 3, seed: args.seed });
    const small = [await growthOf(few)];
    const all = [first];
    while (all.length < ROUNDS) {
      all.push(await growthOf(files));
      small.push(await growthOf(few));
    }
    return { all, small };
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/** How many of the last cards of the file neither the list nor the search shows yet. */
async function missing({ service, client }: Context): Promise<number> {
  const { api } = service;
  const { rows } = await client.query<{ id: string; name: string; total: number }>(
    `select id, name, (select count(*)::int from cards where status = 'ACTIVE') as total
     from cards where status = 'ACTIVE' order by id desc limit 5`,
  );
  const list = await api.get<{ total: number }>('/cards?status=ACTIVE&page_size=1');
  let count = Math.abs(list.total - rows[0]!.total);
  for (const { id, name } of rows) {
    const found = await api.get<{ items: { id: string }[] }>(
      `/cards?page_size=50&search=${encodeURIComponent(name)}`,
    );
    if (!found.items.some((card) => card.id === id)) count += 1;
  }
  return count;
}

async function run(context: Context): Promise<Row[]> {
  const { service, client, args } = context;
  if (args.load !== 'import') throw new Error('the import is measured with --load import only');
  const memory = sampleMemory([service.pid]);
  const { cardsMs, relationsMs } = await context.loadLandscape();
  const { growthBytes } = memory.stop();
  const unseen = await missing(context);
  context.log(`cards in ${Math.round(cardsMs)} ms, relations in ${Math.round(relationsMs)} ms`);
  const floor = await measureCopyIntoTwins(client);
  const { all, small } = await growths(context, growthBytes);
  const pairs = all.map((bytes, n) => [bytes, small[n]!].map((b) => (b / MB).toFixed(1)).join(' / '));
  context.log(`MB grown, whole / small: ${pairs.join(', ')}`);
  return [
    under({ figure: 'import of all', value: cardsMs + relationsMs, unit: 'ms', floor }, 6),
    under({ figure: 'import, memory growth', value: Math.max(...all) / MB, unit: 'MB' }, 200),
    under(
      {
        figure: 'import, memory growth beside a small one',
        value: median(all) / MB,
        unit: 'MB',
        floor: median(small) / MB,
      },
      1.2,
    ),
    within({ figure: 'cards not listed or found after it', value: unseen, unit: 'cards' }, 0, 0),
  ];
}

/** All cards and relations from files over HTTP to finished jobs; runs before whatever needs the landscape. */
export const importAll = { name: 'import', run };
