import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { answered, ok, openApp } from '../../support/harness.ts';
import { readWorkbook } from '../../support/workbook.ts';

/** A row as every format tells it. */
type Told = Record<string, string | number | boolean | null>;

const ids: Record<string, string> = {};

const made = async (kind: string, body: object): Promise<string> =>
  (await admin.create(`/api/v1/${kind}`, body)).id;

const COLUMNS = ['name', 'attributes.numberOfUsers', 'tags'];
const HEADERS = ['id', 'type', ...COLUMNS, 'deleted', 'removed', 'position'];

async function increment(
  format: string,
  after: string,
  { kind = 'cards', columns = COLUMNS, filter = 'status = ACTIVE' } = {},
) {
  const query = new URLSearchParams({ format, after, filter, columns: columns.join(',') });
  return await answered(admin.get(`/api/v1/extracts/${kind}?${query}`));
}

/** Headers and rows of a file, by its format; empty cells are null. */
const readers: Record<string, (content: Buffer) => Promise<{ headers: string[]; rows: Told[] }>> = {
  async csv(content) {
    const [headers, ...lines] = parse(content) as string[][];
    const typed = (header: string, text: string) => {
      if (text === '') return null;
      if (header === 'attributes.numberOfUsers') return Number(text);
      return text === 'true' ? true : text;
    };
    const rows = lines.map((line) =>
      Object.fromEntries(headers!.map((header, n) => [header, typed(header, line[n]!)])),
    );
    return { headers: headers!, rows };
  },
  async xlsx(content) {
    const sheet = (await readWorkbook(content)).worksheets[0]!;
    const headers = (sheet.getRow(1).values as string[]).slice(1);
    const rows: Told[] = [];
    for (let n = 2; n <= sheet.rowCount; n += 1) {
      const row = sheet.getRow(n);
      rows.push(
        Object.fromEntries(
          headers.map((header, at) => [header, (row.getCell(at + 1).value ?? null) as Told[string]]),
        ),
      );
    }
    return { headers, rows };
  },
  async parquet(content) {
    const file = path.join(folder, 'increment.parquet');
    await writeFile(file, content);
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      const reader = await connection.runAndReadAll(`select * from read_parquet('${file}')`);
      const rows = reader.getRowObjectsJson().map((row) => ({
        ...row,
        // a list of values, which other formats show as one text
        ...('tags' in row ? { tags: (row.tags as string[] | null)?.join(';') || null } : {}),
      }));
      return { headers: reader.columnNames(), rows: rows as Told[] };
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  },
};
const formats = Object.keys(readers);

const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-increments-'));
const { admin } = await openApp(['admin']);
for (const name of ['Kept', 'Changed', 'Deleted', 'Archived'])
  ids[name] = await made('cards', { type: 'Application', name, attributes: { numberOfUsers: 1 } });
ids.Server = await made('cards', { type: 'ITComponent', name: 'Server' });
const ends = { source_id: ids.Changed, target_id: ids.Server };
ids.Relation = await made('relations', { type: 'relAppToITC', ...ends });
const tag = await made(`tag-groups/${await made('tag-groups', { name: 'Region' })}/tags`, { name: 'EU' });
/** Before and after what has changed. */
const start = await admin.position();
await admin.patch(`/api/v1/cards/${ids.Changed}`, { attributes: { numberOfUsers: 7 } });
await admin.post(`/api/v1/cards/${ids.Changed}/tags`, [tag]);
await admin.delete(`/api/v1/cards/${ids.Deleted}`);
await admin.post(`/api/v1/cards/${ids.Archived}/archive`, {});
ids.New = await made('cards', { type: 'Application', name: '=New' });
await admin.delete(`/api/v1/relations/${ids.Relation}`);
const end = await admin.position();

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(formats)('what has changed as %s', (format) => {
  it('tells what is gone first, by its id alone, then what is there, each with its position', async () => {
    const { headers, rows } = await readers[format]!((await increment(format, start)).raw);
    expect(headers).toEqual(HEADERS);
    const gone = { type: 'Application', name: null, 'attributes.numberOfUsers': null, tags: null };
    const known = rows.map(({ position: _, ...row }) => row);
    expect(known.slice(0, 2)).toEqual([
      { id: ids.Deleted, ...gone, deleted: true, removed: null },
      { id: ids.Archived, ...gone, deleted: null, removed: true },
    ]);
    // a reader of cells that are calculated is kept from it in CSV alone
    const name = format === 'csv' ? "'=New" : '=New';
    const there = { type: 'Application', deleted: null, removed: null };
    expect(known.slice(2)).toEqual([
      { ...there, id: ids.Changed, name: 'Changed', 'attributes.numberOfUsers': 7, tags: 'Region/EU' },
      { ...there, id: ids.New, name, 'attributes.numberOfUsers': null, tags: null },
    ]);
    for (const { position } of rows) {
      expect(position).toMatch(/^\d+$/);
      expect(Number(position)).toBeGreaterThan(Number(start));
      expect(Number(position)).toBeLessThanOrEqual(Number(end));
    }
  });

  it('is a file with its columns where nothing has changed', async () => {
    const { headers, rows } = await readers[format]!((await increment(format, end)).raw);
    expect({ headers, rows }).toEqual({ headers: HEADERS, rows: [] });
  });

  it('tells the position where the next one goes on', async () => {
    const position = (await increment(format, start)).headers['x-position']!;
    expect(Number(position)).toBeGreaterThanOrEqual(Number(end));
    expect((await readers[format]!((await increment(format, position)).raw)).rows).toEqual([]);
  });

  it('tells of relations as well', async () => {
    const asked = { kind: 'relations', columns: ['source_name'], filter: '' };
    const { headers, rows } = await readers[format]!((await increment(format, start, asked)).raw);
    expect(headers).toEqual(['id', 'type', 'source_name', 'deleted', 'removed', 'position']);
    expect(rows).toEqual([
      {
        id: ids.Relation,
        type: 'relAppToITC',
        source_name: null,
        deleted: true,
        removed: null,
        position: expect.stringMatching(/^\d+$/),
      },
    ]);
  });
});

it('is the same for many changes at once as for each alone', async () => {
  const many = await admin.position();
  const updates = { description: 'Together' };
  await ok(admin.patch('/api/v1/cards/bulk', { ids: [ids.Kept, ids.Changed, ids.New], updates }));
  const asked = { columns: ['name', 'description', 'tags'] };
  for (const format of formats) {
    const { rows } = await readers[format]!((await increment(format, many, asked)).raw);
    expect(rows.map(({ id, description, tags }) => [id, description, tags])).toEqual([
      [ids.Kept, 'Together', null],
      [ids.Changed, 'Together', 'Region/EU'],
      [ids.New, 'Together', null],
    ]);
  }
});

it('tells of a type that was hidden or shown just before the position, whatever else happened then', async () => {
  const hide = async (is_hidden: boolean) => {
    await admin.patch('/api/v1/metamodel/types/ITComponent', { is_hidden });
    return (await readers.csv!((await increment('csv', await admin.position())).raw)).rows;
  };
  expect(await hide(true)).toEqual([expect.objectContaining({ id: ids.Server, removed: true })]);
  expect(await hide(false)).toEqual([expect.objectContaining({ id: ids.Server, name: 'Server' })]);
});
