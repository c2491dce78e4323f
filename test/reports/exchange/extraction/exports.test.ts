// @redis

import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { type ExportRequest, exportJob } from '../../../../domain/exchange/exports/export.job.ts';
import type { Caller } from '../../../../domain/kernel/context.ts';
import { openContent } from '../../../../domain/kernel/files/files.store.ts';
import { startExport } from '../../../../reports/exchange/extraction/exports.job.ts';
import { startWorkers } from '../../../../workers/runtime.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { ask, type jobRow, untilStatus } from '../../../support/jobs.ts';
import { readWorkbook } from '../../../support/workbook.ts';

const request = (more: Partial<ExportRequest> = {}): ExportRequest => ({
  format: 'csv',
  kind: 'cards',
  types: [],
  filter: '',
  columns: [],
  include: [],
  profile: 'report',
  neutralise: true,
  ...more,
});

async function user(role: string): Promise<Caller> {
  const [row] = await t.services
    .db('users')
    .insert({ email: `${role}@estate.example`, display_name: role, role })
    .returning('id');
  const { permissions } = await t.services.db('roles').where({ key: role }).first('permissions');
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

async function exported(
  caller: Caller,
  more: Partial<ExportRequest>,
): Promise<{ content: Buffer; job: Awaited<ReturnType<typeof jobRow>> }> {
  const ctx = await t.ctx(caller);
  const { job_id } = await startExport(ctx, request(more));
  const job = await untilStatus(t.services, job_id, 'succeeded');
  const stream = await openContent(t.services.blobs, job.result_file_id!);
  const content = await buffer(stream);
  return { content, job };
}

const t = closeAfterAll(await createTestServices());
closeAfterAll(await startWorkers(t.services));
const member = await user('member');
const viewer = await user('viewer');
const { db } = t.services;
const [root] = await db('cards')
  .insert({ type: 'BusinessCapability', name: 'Sell / serve', external_id: 'C-1' })
  .returning('id');
await db('cards').insert({
  type: 'BusinessCapability',
  name: 'Child',
  external_id: 'C-2',
  parent_id: root.id,
});
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
const ids = await db('cards')
  .insert(
    names.map((name, n) => ({
      type: 'Application',
      name,
      external_id: `A-${n}`,
      description: n === 0 ? 'y'.repeat(40_000) : null,
      lifecycle: n === 0 ? JSON.stringify({ active: '2020-02-29', endOfLife: '2031-01-01' }) : null,
      attributes: JSON.stringify({
        costTotalAnnual: 1000.5 + n,
        numberOfUsers: n,
        commercialApplication: n % 2 === 0,
        businessCriticality: 'missionCritical',
      }),
    })),
  )
  .returning('id');
await db('relations').insert({
  type: 'relAppToBC',
  source_id: ids[0]!.id,
  target_id: root.id,
  attributes: JSON.stringify({ supportType: 'leading' }),
});
const [group] = await db('tag_groups').insert({ name: 'Region/Market' }).returning('id');
const [tag] = await db('tags').insert({ tag_group_id: group.id, name: 'EU; west' }).returning('id');
await db('card_tags').insert({ card_id: ids[0]!.id, tag_id: tag.id });
await db('stakeholders').insert({ card_id: ids[1]!.id, user_id: viewer.userId, role: 'responsible' });

describe('CSV', () => {
  it('guards formulas, keeps every text, and types the rest', async () => {
    const { content, job } = await exported(member, { types: ['Application'] });
    const rows: Record<string, string>[] = parse(content, { columns: true, relax_quotes: false });
    expect(rows).toHaveLength(8);
    expect(rows.map((row) => row.name)).toEqual([
      'Plain',
      `'=HYPERLINK("http://x","y")`,
      "''=prefixed",
      "'-minus",
      'a "quote", b',
      'line\nbreak',
      '漢字 Größe',
      'x'.repeat(400),
    ]);
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
    const plain = await exported(member, {
      types: ['Application'],
      neutralise: false,
      columns: ['name', 'external_id'],
    });
    expect(parse(plain.content, { columns: true })[1]).toEqual({
      name: '=HYPERLINK("http://x","y")',
      external_id: 'A-1',
    });
  });

  it('holds one moment and names its position', async () => {
    const { job } = await exported(member, {});
    const newest = await t.services.db('events').max('position as n').first();
    expect(Number(job.result!.position)).toBeGreaterThan(0);
    expect(Number(job.result!.position)).toBeLessThanOrEqual(newest!.n);
  });

  it('cuts costs but for cards on which the reader holds a role', async () => {
    const { content } = await exported(viewer, {
      types: ['Application'],
      columns: ['external_id', 'attributes.costTotalAnnual'],
    });
    const rows: Record<string, string>[] = parse(content, { columns: true });
    expect(rows.map((row) => row['attributes.costTotalAnnual'])).toEqual([
      '',
      '1001.5',
      '',
      '',
      '',
      '',
      '',
      '',
    ]);
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

  it('exports relations with the ends and their attributes', async () => {
    const { content } = await exported(member, { kind: 'relations' });
    expect(parse(content, { columns: true })).toMatchObject([
      {
        type: 'relAppToBC',
        source_external_id: 'A-0',
        target_external_id: 'C-1',
        'attributes.supportType': 'leading',
      },
    ]);
  });
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
    expect(book.getWorksheet('Notes')!.getRow(2).values).toEqual([
      undefined,
      'Cards',
      at('A-0'),
      'description',
      40_000,
    ]);
    const hierarchy = book.getWorksheet('Hierarchy')!;
    expect([2, 3].map((row) => hierarchy.getRow(row).getCell(5).value)).toEqual([
      'Sell \\/ serve',
      'Sell \\/ serve / Child',
    ]);
  });

  it('nests lifecycle and attributes in NDJSON and touches no text', async () => {
    const { content } = await exported(member, { format: 'ndjson', types: ['Application'] });
    const rows = content
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
    const before = await t.services.db('jobs').count('id as n').first();
    const error = await startExport(ctx, request(more)).then(
      () => undefined,
      (reason) => reason,
    );
    expect(await t.services.db('jobs').count('id as n').first()).toEqual(before);
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
