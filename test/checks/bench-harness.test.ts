import { spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { parseBenchArgs } from '../bench/harness/args.ts';
import { meanCopyLine, measureU } from '../bench/harness/database.ts';
import { load } from '../bench/harness/load.ts';
import { median, percentile, residentBytes, sampleGrowth } from '../bench/harness/measure.ts';
import { atLeast, formatRows, under, within } from '../bench/harness/rows.ts';
import { prepareWorkspace } from '../bench/harness/workspace.ts';
import { benchCards } from '../bench/landscape/cards.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { closeAfterAll } from '../support/harness.ts';
import { serveOnLoopback } from '../support/loopback.ts';

it('the bench takes sizes, a seed and names of scenarios, with three relations a card by default', () => {
  expect(parseBenchArgs([])).toEqual({ cards: 100_000, relations: 300_000, seed: 42, only: [], kills: 4 });
  const args = parseBenchArgs('--cards 2000 --seed 7 --only search --only list --kills 9'.split(' '));
  expect(args).toEqual({ cards: 2_000, relations: 6_000, seed: 7, only: ['search', 'list'], kills: 9 });
  expect(() => parseBenchArgs(['--cards', 'many'])).toThrow('--cards');
});

describe('the figures', () => {
  it('are medians and percentiles by nearest rank', () => {
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(percentile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.5)).toBe(5);
    expect(percentile([1, 2, 3], 0.99)).toBe(3);
  });

  it('are compared with their baselines', () => {
    expect(atLeast('list', 400, 'req/s', 0.4, 1_000).ok).toBe(true);
    expect(atLeast('list', 399, 'req/s', 0.4, 1_000).ok).toBe(false);
    expect(under('import', 6, 's', 6, 1).ok).toBe(false);
    expect(under('growth', 199, 'MB', 200)).toMatchObject({ ok: true, required: 'under 200 MB' });
    expect(within('line', 751, 'bytes', 550, 750).ok).toBe(false);
    expect(within('lost', 1, 'rows', 0).ok).toBe(false);
  });

  it('are printed as a table with baseline, ratio and verdict', () => {
    const table = formatRows([
      atLeast('list', 1_234, 'req/s', 0.4, 2_468),
      under('growth', 250, 'MB', 200),
    ]).split('\n');
    expect(table[0]).toMatch(/^figure\s+value\s+baseline\s+ratio\s+required$/);
    expect(table[2]).toMatch(/^list\s+1,234 req\/s\s+2,468 req\/s\s+0\.5\s+at least 0\.4 x baseline\s+ok$/);
    expect(table[3]).toMatch(/^growth\s+250 MB\s+under 200 MB\s+FAIL$/);
  });
});

describe('load from a process of its own', async () => {
  const paths: (string | undefined)[] = [];
  const server = await serveOnLoopback((request, reply) => {
    paths.push(request.url);
    reply.writeHead(request.url === '/no' ? 500 : 200).end('x');
  });
  const { origin: url } = closeAfterAll(server);

  it('counts answers and times them, path by path', async () => {
    const result = await load({ url, connections: 2, seconds: 1, paths: ['/a', '/b'] });
    expect(result.requests).toBeGreaterThan(0);
    expect(result.p99Ms).toBeGreaterThanOrEqual(result.p50Ms);
    expect(new Set(paths)).toEqual(new Set(['/a', '/b']));
  });

  it('throws when answers are not 2xx', () =>
    expect(load({ url: `${url}/no`, connections: 1, seconds: 1 })).rejects.toThrow('500'));
});

test('the growth of a process is measured while it runs', async () => {
  // a process of its own: this one may give memory back at any time
  const script =
    'process.stdin.once("data", () => { globalThis.block = Buffer.alloc(64 * 2 ** 20, 1); console.log(1); })';
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  const stop = sampleGrowth(child.pid!);
  child.stdin.write('go');
  await once(child.stdout, 'data');
  expect(stop()).toBeGreaterThan(32);
  child.kill();
  await once(child, 'exit');
  expect(residentBytes(child.pid!)).toBe(0);
});

describe('the database of the bench', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('takes the custom fields, people and tags of the landscape, and the lines are as long as asked', async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    try {
      await prepareWorkspace(client);
      const { rows } = await client.query(`select (select count(*)::int from card_types
                 where jsonb_path_exists(fields_schema, '$[*] ? (@.section == "Company Data")')) as types,
                (select count(*)::int from users where email like '%@bench.example') as people,
                (select count(*)::int from tags) as tags`);
      expect(rows[0]).toEqual({ types: 13, people: 200, tags: 15 });
      // as an import by a user stores them: with the makers' ids and without the tree
      await client.query(
        `insert into cards (type, subtype, name, alias, description, lifecycle, attributes, status, external_id,
                            parent_id, created_by, updated_by, data_quality)
         select r->>'type', r->>'subtype', r->>'name', r->>'alias', r->>'description', r->'lifecycle',
                r->'attributes', r->>'status', r->>'external_id', null, uuidv7(), uuidv7(), 77.5
         from jsonb_array_elements($1::jsonb) r`,
        [JSON.stringify([...benchCards({ cards: 2_000, seed: 42 })])],
      );
      const line = await meanCopyLine(client);
      expect(line).toBeGreaterThan(550);
      expect(line).toBeLessThan(750);
      expect(await measureU(client)).toBeGreaterThan(0);
    } finally {
      await client.end();
    }
  });
});
