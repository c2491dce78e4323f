import fc from 'fast-check';
import { readNdjson } from '../../../../domain/exchange/imports/imports.read-ndjson.ts';
import { utf8Chunks } from '../../../../domain/exchange/imports/imports.utf8.ts';
import { forAllAsync } from '../../../support/property.ts';
import { cards, collect, faultsOf, inPieces, relations } from './read.support.ts';

const read = (content: string | Buffer, size?: number) => collect(readNdjson(inPieces(content, size), cards));
const readRow = async (row: unknown) => (await read(JSON.stringify(row)))[0]!;
describe('rows of JSON', () => {
  it('reads nested values, lists as arrays or as one text', async () => {
    const common = { type: 'Application', name: ' x ', external_id: ' A ' };
    const row = await readRow({
      attributes: { score: 2, critical: false, regions: ['eu', 'a;b'], reviewed: '2024-02-29', note: '=1' },
      ...common,
      lifecycle: { active: '2020-01-01', endOfLife: null },
      parent_path: ['Sales', 'EU/UK'],
      tags: ['Region/EU'],
      stakeholders: 'owner:ada@example.org; backup:bob@example.org',
    });
    expect(row).toEqual({
      line: 1,
      kind: 'cards',
      values: {
        ...common,
        external_id: 'A',
        lifecycle: { active: '2020-01-01', endOfLife: null },
        parent_path: ['Sales', 'EU/UK'],
        tags: [{ group: 'Region', name: 'EU' }],
        stakeholders: [
          { role: 'owner', email: 'ada@example.org' },
          { role: 'backup', email: 'bob@example.org' },
        ],
        attributes: { score: 2, critical: false, regions: ['eu', 'a;b'], reviewed: '2024-02-29', note: '=1' },
      },
      errors: [],
    });
  });

  it('clears with null and with what is empty, and leaves what is absent', async () => {
    const row = await readRow({
      ...{ type: 'Application', name: 'x', alias: null, description: '', tags: [], status: null },
      ...{ parent_path: null, attributes: { note: null, regions: [], score: '' } },
    });
    expect(row.values).toEqual({
      ...{ type: 'Application', name: 'x', alias: null, description: null, tags: null, parent_id: null },
      attributes: { note: null, regions: null, score: null },
    });
    expect((await readRow({ type: 'Application', lifecycle: null, attributes: null })).values).toEqual({
      ...{ type: 'Application', lifecycle: null, attributes: null },
    });
    expect((await readRow({ type: 'Application', parent_path: Array(101).fill('x') })).errors).toEqual([
      { field: 'parent_path', code: 'too_deep', message: 'has more than 100 steps' },
    ]);
    expect((await readRow({ type: 'Application', parent_id: null, parent_path: 'Sales' })).values).toEqual({
      ...{ type: 'Application', parent_path: ['Sales'] },
    });
  });

  it('names each member that is unknown or of a wrong type', async () => {
    const row = await readRow({
      ...{ type: 'Application', name: 5, alias: ['a'], tags: 'loose', created_at: 'now', stakeholders: [1] },
      lifecycle: { active: 2020, dead: '2020-01-01', plan: '2020-02-30' },
      attributes: { score: '3', critical: 'true', regions: 'eu', note: 1, nope: 1, reviewed: '1.1.2020' },
    });
    expect(faultsOf([row])).toEqual([
      ...['name wrong_type', 'alias wrong_type', 'tags bad_tag', 'created_at unknown_field'].map(
        (f) => `1: ${f}`,
      ),
      ...['stakeholders wrong_type', 'lifecycle.active wrong_type'].map((f) => `1: ${f}`),
      ...['lifecycle.dead unknown_phase', 'lifecycle.plan bad_date'].map((f) => `1: ${f}`),
      ...['attributes.score wrong_type', 'attributes.critical wrong_type'].map((f) => `1: ${f}`),
      ...['attributes.regions wrong_type', 'attributes.note wrong_type'].map((f) => `1: ${f}`),
      ...['attributes.nope unknown_attribute', 'attributes.reviewed bad_date'].map((f) => `1: ${f}`),
    ]);
    expect(row.values).toEqual({ type: 'Application' });
    expect(faultsOf([await readRow({ type: 'Application', lifecycle: 'x', attributes: [] })])).toEqual([
      ...['1: lifecycle wrong_type', '1: attributes wrong_type'],
    ]);
  });

  it('takes names of members from nowhere but the row', async () => {
    const [row] = await read(
      '{"type":"Application","name":"x","__proto__":1,"constructor":2,"attributes":{"__proto__":{"a":1}}}',
    );
    expect(faultsOf([row!])).toEqual([
      ...['1: __proto__ unknown_field', '1: constructor unknown_field'],
      '1: attributes.__proto__ unknown_attribute',
    ]);
    expect(row!.values).toEqual({ type: 'Application', name: 'x' });
  });

  it('reads relations, which have no lifecycle', async () => {
    const rows = await collect(
      readNdjson(
        inPieces(
          '{"type":"r","source_external_id":"a","target_external_id":"b","lifecycle":{}}\n{"type":"r"}',
        ),
        relations,
      ),
    );
    expect(faultsOf(rows)).toEqual([
      '1: lifecycle unknown_field',
      '2: source_external_id required',
      '2: target_external_id required',
    ]);
  });
});

describe('the file', () => {
  it('goes on behind lines that are no rows', async () => {
    const file = Buffer.concat([
      Buffer.from('\ufeff{"type":"Application","name":"first"}\r\n\r\n{"type":\n[1]\n"x"\nnull\n'),
      Buffer.from('{"type":"Application","name":"M\xfcller"}\n', 'latin1'),
      Buffer.from('{"type":"Application","name":"\\u0000"}\n{"type":"Application","name":"\\ud800"}\n'),
      Buffer.from('{"type":"Application","attributes":{"regions":["\\u0000"]},"\\u0000":1}\n'),
      Buffer.from('{"type":"Application","name":"last ü 漢 \ufffd"}'),
    ]);
    for (const size of [1, 7, 10_000]) {
      const rows = await read(file, size);
      expect(faultsOf(rows)).toEqual([
        ...['3: row bad_json', '4: row wrong_type', '5: row wrong_type', '6: row wrong_type'],
        ...['7: row bad_encoding', '8: name bad_text', '9: name bad_text'],
        ...['10: attributes.regions bad_text', '10: \ufffd unknown_field'],
      ]);
      expect([rows.at(0)!.values.name, rows.at(-1)!.values.name]).toEqual(['first', 'last ü 漢 \ufffd']);
      expect(rows.at(-1)!.line).toBe(11);
    }
  });

  it('refuses lines over 1 MiB without holding them', async () => {
    const huge = `{"type":"Application","description":"${'x'.repeat(5 * 1024 * 1024)}"}`;
    const rows = await read(`${huge}\n{"type":"Application","name":"good"}\n${huge}`, 65_536);
    expect(faultsOf(rows)).toEqual(['1: row too_long', '3: row too_long']);
    expect(rows[1]!.values.name).toBe('good');
  });

  it('refuses UTF-16 and takes an empty file for one without rows', async () => {
    await expect(read(Buffer.from('\ufeff{}', 'utf16le'))).rejects.toMatchObject({
      code: 'validation_failed',
    });
    expect(await read('')).toEqual([]);
  });

  it('reads any texts back that JSON can carry', async () => {
    const text = fc.string({ unit: 'grapheme' }).filter((value) => value !== '' && !value.includes('\0'));
    await forAllAsync(
      100,
      [fc.array(text, { minLength: 1 }), fc.integer({ min: 1, max: 40 })],
      async (texts, size) => {
        const file = texts
          .map((description) => JSON.stringify({ type: 'Application', description }))
          .join('\n');
        expect((await read(file, size)).map(({ values }) => values.description)).toEqual(texts);
      },
    );
  });

  it('answers any bytes with rows or with one refusal, never with another failure', () =>
    forAllAsync(100, [fc.uint8Array({ maxLength: 200 })], async (bytes) => {
      await read(Buffer.from(bytes)).catch((error) => expect(error.status).toBe(422));
    }));
});

const PIECE = 64 * 1024;
async function chunksOf(content: Buffer, size: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of utf8Chunks(inPieces(content, size))) chunks.push(chunk);
  return chunks;
}

// characters of one to four bytes, so that pieces end inside each of them somewhere
const content = Buffer.from('aé€😀b'.repeat(40_000));

it.each([1024 * 1024, PIECE, 1000])('is handed on in pieces, coming %i bytes at once', async (size) => {
  const chunks = await chunksOf(content, size);
  // what a piece lacks of its last character comes with the next
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(PIECE + 3);
  expect(chunks.every((chunk) => !chunk.toString('utf8').includes('\ufffd'))).toBe(true);
  expect(Buffer.concat(chunks).equals(content)).toBe(true);
});
