import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseBenchArgs } from '../bench/harness/args.ts';
import { connect, meanCopyLine, measureU } from '../bench/harness/database.ts';
import { load } from '../bench/harness/load.ts';
import { residentBytes, sampleMemory } from '../bench/harness/memory.ts';
import { startNode } from '../bench/harness/processes.ts';
import { atLeast, formatRows, under, within } from '../bench/harness/rows.ts';
import { median, percentile } from '../bench/harness/stats.ts';
import { prepareWorkspace } from '../bench/harness/workspace.ts';
import { benchCards } from '../bench/landscape/cards.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { closeAfterAll } from '../support/harness.ts';
import { serveOnLoopback } from '../support/loopback.ts';

describe('the arguments of the bench', () => {
  it('take sizes, a seed and names of scenarios, with three relations a card by default', () => {
    expect(parseBenchArgs([])).toEqual({
      cards: 100_000,
      relations: 300_000,
      seed: 42,
      only: [],
      load: 'import',
      kills: 4,
    });
    const given = [
      '--cards',
      '2000',
      '--seed',
      '7',
      '--only',
      'search',
      '--only',
      'list',
      '--load',
      'direct',
      '--kills',
      '9',
    ];
    expect(parseBenchArgs(given)).toEqual({
      cards: 2_000,
      relations: 6_000,
      seed: 7,
      only: ['search', 'list'],
      load: 'direct',
      kills: 9,
    });
    expect(() => parseBenchArgs(['--cards', 'many'])).toThrow('--cards');
    expect(() => parseBenchArgs(['--load', 'somehow'])).toThrow('--load');
  });
});

describe('the figures', () => {
  it('are medians and percentiles by nearest rank', () => {
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(percentile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.5)).toBe(5);
    expect(percentile([1, 2, 3], 0.99)).toBe(3);
  });

  it('are held against their floors', () => {
    expect(atLeast({ figure: 'list', value: 400, unit: 'req/s', floor: 1_000 }, 0.4).ok).toBe(true);
    expect(atLeast({ figure: 'list', value: 399, unit: 'req/s', floor: 1_000 }, 0.4).ok).toBe(false);
    expect(under({ figure: 'import', value: 6, unit: 's', floor: 1 }, 6).ok).toBe(false);
    expect(under({ figure: 'growth', value: 199, unit: 'MB' }, 200)).toMatchObject({
      ok: true,
      required: 'under 200 MB',
    });
    expect(within({ figure: 'line', value: 751, unit: 'bytes' }, 550, 750).ok).toBe(false);
  });

  it('stand in a table with floor, ratio and verdict', () => {
    const table = formatRows([
      atLeast({ figure: 'list', value: 1_234, unit: 'req/s', floor: 2_468 }, 0.4),
      under({ figure: 'growth', value: 250, unit: 'MB' }, 200),
    ]).split('\n');
    expect(table[0]).toMatch(/^figure\s+value\s+floor\s+ratio\s+required$/);
    expect(table[2]).toMatch(/^list\s+1,234 req\/s\s+2,468 req\/s\s+0\.5\s+at least 0\.4 x floor\s+ok$/);
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

  it('throws when answers are not 2xx', async () => {
    await expect(load({ url: `${url}/no`, connections: 1, seconds: 1 })).rejects.toThrow('500');
  });
});

describe('processes and their memory', () => {
  it('are started, measured and ended', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'bench-harness-'));
    const script = path.join(folder, 'idle.mjs');
    await writeFile(script, 'setInterval(() => {}, 1000); console.log("up");');
    const child = startNode({
      entry: path.relative(path.join(import.meta.dirname, '../..'), script),
      env: {},
      logFile: path.join(folder, 'log'),
    });
    try {
      expect(child.running()).toBe(true);
      expect(residentBytes(child.pid)).toBeGreaterThan(0);
    } finally {
      await child.stop();
      await rm(folder, { recursive: true });
    }
    expect(child.running()).toBe(false);
    expect(residentBytes(child.pid)).toBe(0);
  });

  it('show their growth', async () => {
    // a process of its own: this one may give memory back at any time
    const script =
      'process.stdin.once("data", () => { globalThis.block = Buffer.alloc(64 * 2 ** 20, 1); console.log(1); })';
    const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(child, 'spawn');
      const sampler = sampleMemory([child.pid!]);
      child.stdin.write('go');
      await once(child.stdout, 'data');
      const report = sampler.stop();
      expect(report.growthBytes).toBeGreaterThan(32 * 2 ** 20);
      expect(report.peakBytes).toBe(report.startBytes + report.growthBytes);
    } finally {
      child.kill();
    }
  });
});

describe('the database of the bench', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('takes the custom fields, people and tags of the landscape, and the lines are as long as asked', async () => {
    const client = await connect(database.url);
    try {
      await prepareWorkspace(client);
      const { rows } = await client.query(
        `select (select count(*)::int from card_types
                 where jsonb_path_exists(fields_schema, '$[*] ? (@.section == "Company Data")')) as types,
                (select count(*)::int from users where email like '%@bench.example') as people,
                (select count(*)::int from tags) as tags`,
      );
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
