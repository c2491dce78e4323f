// @redis

import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { type ExportRequest, exportJob } from '../../../../domain/exchange/exports/export.job.ts';
import type { Caller } from '../../../../domain/kernel/context.ts';
import { startExport } from '../../../../reports/exchange/extraction/exports.job.ts';
import { startWorkers } from '../../../../workers/runtime.ts';
import { exported as exportedBy, exportRequest } from '../../../support/exports.ts';
import { closeAfterAll, createTestServices, pluck } from '../../../support/harness.ts';
import { storeInventory } from '../../../support/inventory.ts';
import { ask } from '../../../support/jobs.ts';
import { readWorkbook } from '../../../support/workbook.ts';

async function user(role: string): Promise<Caller> {
  const [row] = await db('users')
    .insert({ email: `${role}@estate.example`, display_name: role, role })
    .returning('id');
  const { permissions } = await db('roles').where({ key: role }).first('permissions');
  return {
    userId: row.id,
    email: `${role}@estate.example`,
    displayName: role,
    role,
    permissions: new Set(Object.keys(permissions)) as never,
    tokenId: null,
    tokenExpiresAt: null,
  };
}

const exported = async (caller: Caller, more: Partial<ExportRequest>) =>
  await exportedBy(t, await t.ctx(caller), more);

const t = closeAfterAll(await createTestServices());
const { db } = t.services;
closeAfterAll(await startWorkers(t.services));
const member = await user('member');
const viewer = await user('viewer');
const names = [
  'Plain',
  '=HYPERLINK("http://x","y")',
  "'=prefixed",
  '-minus',
  'a "quote", b',
  'line\nbreak',
  '漢字 Größe',
  'x'.repeat(400),
];
const application = (n: number) => ({
  external_id: `A-${n}`,
  ...(n === 0 && {
    description: 'y'.repeat(40_000),
    lifecycle: { active: '2020-02-29', endOfLife: '2031-01-01' },
  }),
  attributes: {
    costTotalAnnual: 1000.5 + n,
    numberOfUsers: n,
    commercialApplication: n % 2 === 0,
    businessCriticality: 'missionCritical',
  },
});
const ids = await storeInventory(
  t,
  {
    BusinessCapability: {
      'Sell / serve': { external_id: 'C-1' },
      Child: { external_id: 'C-2', parent: 'Sell / serve' },
    },
    Application: Object.fromEntries(names.map((name, n) => [name, application(n)])),
  },
  [['relAppToBC', 'Plain', 'Sell / serve', { supportType: 'leading' }]],
);
const [group] = await db('tag_groups').insert({ name: 'Region/Market' }).returning('id');
const [tag] = await db('tags').insert({ tag_group_id: group.id, name: 'EU; west' }).returning('id');
await db('card_tags').insert({ card_id: ids.Plain, tag_id: tag.id });
await db('stakeholders').insert({ card_id: ids[names[1]!], user_id: viewer.userId, role: 'responsible' });

describe('CSV', () => {
  it('guards formulas, keeps every text, and types the rest', async () => {
    const { content, job } = await exported(member, { types: ['Application'] });
    const rows: Record<string, string>[] = parse(content, { columns: true, relax_quotes: false });
    expect(rows).toHaveLength(8);
    const guarded = names.with(1, `'=HYPERLINK("http://x","y")`).with(2, "''=prefixed").with(3, "'-minus");
    expect(pluck(rows, 'name')).toEqual(guarded);
    expect(rows[0]).toMatchObject({
      type: 'Application',
      'lifecycle.active': '2020-02-29',
      'attributes.costTotalAnnual': '1000.5',
      'attributes.commercialApplication': 'true',
      tags: 'Region\\\\/Market/EU\\; west',
    });
    expect(rows[0]!.description).toHaveLength(40_000);
    expect(job.counts).toEqual({ rows: 8, total: 8 });
    expect(job.result).toMatchObject({
      kind: 'cards',
      format: 'csv',
      types: ['Application'],
      after: null,
      tables: [{ name: 'Cards', rows: 8 }],
      file: { size: content.length, sha256: createHash('sha256').update(content).digest('hex') },
    });
    const columns = ['name', 'external_id'];
    const plain = await exported(member, { types: ['Application'], neutralise: false, columns });
    expect(parse(plain.content, { columns: true })[1]).toEqual({
      name: '=HYPERLINK("http://x","y")',
      external_id: 'A-1',
    });
  });

  it('refuses a file for import whose texts would lose an apostrophe there', async () => {
    const start = startExport(
      await t.ctx(member),
      exportRequest({ profile: 'roundtrip', neutralise: false }),
    );
    await expect(start).rejects.toMatchObject({ errors: [{ field: 'neutralise' }] });
  });

  it('holds one moment and names its position', async () => {
    const { job } = await exported(member, {});
    const newest = await db('events').max('position as n').first();
    expect(Number(job.result!.position)).toBeGreaterThan(0);
    expect(Number(job.result!.position)).toBeLessThanOrEqual(newest!.n);
  });

  it('cuts costs but for cards on which the reader holds a role', async () => {
    const { content } = await exported(viewer, {
      types: ['Application'],
      columns: ['external_id', 'attributes.costTotalAnnual'],
    });
    const rows: Record<string, string>[] = parse(content, { columns: true });
    expect(pluck(rows, 'attributes.costTotalAnnual')).toEqual(Array(8).fill('').with(1, '1001.5'));
  });

  it('selects by filter and follows the round-trip profile', async () => {
    const { content } = await exported(member, { filter: 'external_id = "C-2"', profile: 'roundtrip' });
    const [row]: Record<string, string>[] = parse(content, { columns: true });
    expect(row).toMatchObject({
      external_id: 'C-2',
      parent_external_id: 'C-1',
      parent_path: 'Sell \\/ serve',
      status: 'ACTIVE',
    });
    expect(row).not.toHaveProperty('data_quality');
  });

  it('exports relations with the ends and their attributes', async () =>
    expect(parse((await exported(member, { kind: 'relations' })).content, { columns: true })).toMatchObject([
      {
        type: 'relAppToBC',
        source_external_id: 'A-0',
        target_external_id: 'C-1',
        'attributes.supportType': 'leading',
      },
    ]));
});

describe('XLSX and NDJSON', () => {
  it('writes cards, relations and hierarchy as sheets with typed cells, and notes what does not fit', async () => {
    const { content } = await exported(member, { format: 'xlsx', include: ['relations', 'hierarchy'] });
    const book = await readWorkbook(content);
    expect(book.worksheets.map((sheet) => sheet.name)).toEqual(['Cards', 'Relations', 'Hierarchy', 'Notes']);
    const cards = book.getWorksheet('Cards')!;
    const header = (cards.getRow(1).values as string[]).slice(1);
    const cell = (row: number, name: string) => cards.getRow(row).getCell(header.indexOf(name) + 1).value;
    expect(cards.rowCount).toBe(11);
    const rows = Array.from({ length: 10 }, (_, n) => n + 2);
    const at = (id: string) => rows.find((row) => cell(row, 'external_id') === id)!;
    expect(cell(at('A-1'), 'name')).toBe('=HYPERLINK("http://x","y")');
    expect(cell(at('A-0'), 'attributes.costTotalAnnual')).toBe(1000.5);
    expect(cell(at('A-0'), 'attributes.commercialApplication')).toBe(true);
    expect(cell(at('A-0'), 'lifecycle.active')).toEqual(new Date('2020-02-29T00:00:00Z'));
    expect(String(cell(at('A-0'), 'description'))).toHaveLength(32_767);
    const [, ...note] = book.getWorksheet('Notes')!.getRow(2).values as unknown[];
    expect(note).toEqual(['Cards', at('A-0'), 'description', 40_000]);
    const hierarchy = book.getWorksheet('Hierarchy')!;
    expect([2, 3].map((row) => hierarchy.getRow(row).getCell(5).value)).toEqual([
      'Sell \\/ serve',
      'Sell \\/ serve / Child',
    ]);
  });

  it('nests lifecycle and attributes in NDJSON and touches no text', async () => {
    const rows = (await exported(member, { format: 'ndjson', types: ['Application'] })).content
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows[0]).toMatchObject({
      lifecycle: { active: '2020-02-29' },
      attributes: { numberOfUsers: 0 },
      tags: ['Region\\/Market/EU; west'],
    });
    expect(rows[2].name).toBe("'=prefixed");
  });
});

describe('refusals', () => {
  const refused = async (more: Partial<ExportRequest>) => {
    const ctx = await t.ctx(viewer);
    const before = await db('jobs').count('id as n').first();
    const error = await startExport(ctx, exportRequest(more)).then(
      () => undefined,
      (reason) => reason,
    );
    expect(await db('jobs').count('id as n').first()).toEqual(before);
    return { status: error?.status, field: error?.errors?.[0]?.field };
  };

  it('name the field: types, columns, include, filter; and costs that may not be asked about', async () => {
    expect(await refused({ types: ['Nothing'] })).toEqual({ status: 422, field: 'types.0' });
    expect(await refused({ columns: ['name', 'nothing'] })).toEqual({ status: 422, field: 'columns.1' });
    expect(await refused({ include: ['relations'] })).toEqual({ status: 422, field: 'include' });
    expect(await refused({ filter: 'name =' })).toEqual({ status: 422, field: 'filter' });
    expect(await refused({ filter: 'attributes.costTotalAnnual > 1' })).toMatchObject({ status: 403 });
  });

  it('an unexpected payload never reaches the processor', async () => {
    const ctx = await t.ctx(member);
    await expect(ask(ctx, exportJob, { format: 'pdf' } as never)).rejects.toThrow(/payload of a export job/);
  });
});
