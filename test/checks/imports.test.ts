import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { checkImports } from './imports.ts';

const trees: string[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true });
});

/** Writes a small tree. */
function tree(files: Record<string, string>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'estate-imports-'));
  trees.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}

function violations(files: Record<string, string>): string[] {
  return checkImports(tree(files)).map(({ path: file, line, reason }) => `${file}:${line} ${reason}`);
}

describe('direction', () => {
  test('downwards is right, and tests may import anything', () =>
    expect(
      violations({
        'platform/clock.ts': 'export const now = 1;',
        'domain/cards/a.ts': `import { now } from '../../platform/clock.ts';\nexport const a = now;`,
        'reports/r.ts': `import { a } from '../domain/cards/a.ts';\nexport const r = a;`,
        'migrations/steps.ts': `import { now } from '../platform/clock.ts';\nexport const steps = [now];`,
        'api/main.ts': `import { r } from '../reports/r.ts';\nimport { steps } from '../migrations/steps.ts';\nexport const app = [r, steps];`,
        'workers/main.ts': `export const work = 1;`,
        'migrations/seeds/s.ts': `import { rows } from '../../domain/cards/rows.data.ts';\nexport const s = rows;`,
        'domain/version.ts': `import manifest from '../package.json' with { type: 'json' };\nexport const version = manifest;`,
        'domain/cards/rows.data.ts': 'export const rows = [];',
        'main.ts': `import { app } from './api/main.ts';\nimport { work } from './workers/main.ts';\nexport const all = [app, work];`,
        'test/api/x.test.ts': `import { app } from '../../api/main.ts';\nexport const x = app;`,
        'vitest.config.ts': 'export default {};',
      }),
    ).toEqual([]));

  test.each([
    ['platform/a.ts', '../domain/b.ts', 'platform may not import domain'],
    ['domain/a.ts', '../reports/b.ts', 'domain may not import reports (only platform)'],
    ['domain/cards/a.ts', '../../integrations/b.ts', 'domain may not import integrations (only platform)'],
    ['reports/a.ts', '../integrations/b.ts', 'reports may not import integrations (only platform, domain)'],
    ['api/a.ts', '../workers/b.ts', /^api may not import workers/],
    ['workers/a.ts', '../api/b.ts', /^workers may not import api/],
    ['migrations/a.ts', '../domain/b.ts', 'migrations may not import domain (only platform, boot.ts)'],
    ['migrations/a.ts', '../domain/b.data.ts', 'migrations may not import domain (only platform, boot.ts)'],
    [
      'migrations/seeds/a.ts',
      '../../domain/b.ts',
      'migrations may not import domain (only platform, boot.ts)',
    ],
    ['domain/a.ts', '../main.ts', 'domain may not import main.ts (only platform)'],
    ['domain/a.ts', '../test/b.ts', 'product code imports test/b.ts, which is not part of the product'],
    ['domain/a.ts', '../vitest.config.ts', /^product code imports vitest.config.ts/],
  ])('%s may not import %s', (from, to, reason) => {
    const root = tree({ [from]: `// äöü €\nimport { b } from '${to}';\nexport const a = b;` });
    expect(checkImports(root)).toEqual([
      { path: from, line: 2, reason: typeof reason === 'string' ? reason : expect.stringMatching(reason) },
    ]);
  });

  test.each([
    `import type { B } from '../api/b.ts';\nexport type A = B;`,
    `export type A = import('../api/b.ts').B;`,
    `export const a = () => import('../api/b.ts');`,
    `import '../api/b.ts';`,
  ])('every form of import counts: %s', (text) => {
    expect(violations({ 'domain/a.ts': text })).toEqual([
      'domain/a.ts:1 domain may not import api (only platform)',
    ]);
  });

  test('contexts of the domain import those before them only', () =>
    expect(
      violations({
        'domain/kernel/a.ts': 'export const a = 1;',
        'domain/inventory/b.ts': `import { a } from '../kernel/a.ts';\nexport const b = a;`,
        'domain/access/c.ts': `import type { b } from '../inventory/b.ts';\nexport type C = typeof b;`,
        'domain/app/d.ts': `import { b } from '../inventory/b.ts';\nexport const d = b;`,
      }),
    ).toEqual(['domain/access/c.ts:1 the context access may not import the later context inventory']));

  test('a folder that is not a layer is reported', () =>
    expect(violations({ 'utils/a.ts': 'export const a = 1;' })).toEqual([
      'utils/a.ts:1 utils is not a layer (platform, domain, reports, integrations, workers, api, clients, web, migrations, boot.ts, main.ts, test)',
    ]));
});

test('no barrels in product code', () =>
  expect(
    violations({
      'domain/a.ts': 'export const a = 1;\nexport type T = 1;',
      'domain/all.ts': `export * from './a.ts';\nexport { a as b } from './a.ts';\nexport type { T } from './a.ts';\nimport { a } from './a.ts';\nexport { a };`,
    }),
  ).toEqual([
    'domain/all.ts:1 re-exports ./a.ts: import it from where it is written',
    'domain/all.ts:2 re-exports ./a.ts: import it from where it is written',
    'domain/all.ts:3 re-exports ./a.ts: import it from where it is written',
    'domain/all.ts:5 re-exports ./a.ts: import it from where it is written',
  ]));

test('api holds no SQL, no query building and no queue', () =>
  expect(
    violations({
      'api/a.ts': [
        `import type { Knex } from 'knex';`,
        `import { Queue } from 'bullmq';`,
        `export const a = (db: Knex) => db.raw('x');`,
        `export const b = (db: Knex) => db.select('id').from('cards');`,
        'export const c = `select * from cards`;',
        `export const d = 'delete from cards';`,
        `export const fine = [Array.from('x'), Buffer.from('x'), 'Select a card from the list', 'Update the card', Queue];`,
      ].join('\n'),
      'reports/a.ts': `import type { Knex } from 'knex';\nexport const a = (db: Knex) => db.raw('select 1 from cards');`,
    }),
  ).toEqual([
    'api/a.ts:1 api may not import knex: call a command or a query',
    'api/a.ts:2 api may not import bullmq: call a command or a query',
    'api/a.ts:3 .raw( in api: call a command or a query',
    'api/a.ts:4 .from( in api: call a command or a query',
    'api/a.ts:5 SQL in api: call a command or a query',
    'api/a.ts:6 SQL in api: call a command or a query',
  ]));

test('connections are opened by the guard of outgoing connections alone', () =>
  expect(
    violations({
      'domain/a.ts': [
        `import net from 'node:net';`,
        `import type { Socket } from 'node:net';`,
        `import { type IncomingMessage } from 'node:http';`,
        `import SMTPConnection from 'nodemailer/lib/smtp-connection';`,
        `export const b = () => globalThis.fetch('https://example.com');`,
        `export const d = () => import('undici');`,
        'export const e = [net, SMTPConnection] as (Socket | IncomingMessage)[];',
      ].join('\n'),
      'platform/outbound.ts': `import { fetch } from 'undici';\nexport const go = (url: string) => fetch(url);`,
    }),
  ).toEqual([
    'domain/a.ts:1 imports node:net: connect through the guard of platform/outbound.ts',
    'domain/a.ts:4 imports nodemailer/lib/smtp-connection: connect through the guard of platform/outbound.ts',
    'domain/a.ts:5 globalThis.fetch: connect through the guard of platform/outbound.ts',
    'domain/a.ts:6 imports undici: connect through the guard of platform/outbound.ts',
  ]));

test('a file that cannot be parsed is reported', () =>
  expect(violations({ 'domain/a.ts': '\nexport const = ;' })).toEqual([
    expect.stringMatching(/^domain\/a\.ts:2 cannot be parsed: /),
  ]));

test('the command prints a line for each violation and fails, and prints nothing without any', () => {
  const program = path.join(import.meta.dirname, 'imports.ts');
  const bad = tree({ 'domain/a.ts': `import '../api/b.ts';` });
  const run = spawnSync(process.execPath, [program, bad], { encoding: 'utf8' });
  expect(run.status).toBe(1);
  expect(run.stderr).toBe('domain/a.ts:1 domain may not import api (only platform)\n');
  const good = tree({ 'domain/a.ts': 'export const a = 1;' });
  expect(execFileSync(process.execPath, [program, good], { encoding: 'utf8' })).toBe('');
});

test('charts import each other and nothing else', () =>
  expect(
    violations({
      'reports/kernel/charts/a.ts': 'export const a = 1;',
      'reports/kernel/charts/b.ts': `import path from 'node:path';\nimport { a } from './a.ts';\nimport { c } from '../c.ts';\nexport const b = [a, c, path];`,
      'reports/kernel/c.ts': 'export const c = 1;',
    }),
  ).toEqual([
    'reports/kernel/charts/b.ts:1 charts may only import other charts, not node:path',
    'reports/kernel/charts/b.ts:3 charts may only import other charts, not ../c.ts',
  ]));
