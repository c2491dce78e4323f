import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { type ReadCsvOptions, readCsv } from '../../../../domain/exchange/imports/imports.read-csv.ts';
import { neutralise } from '../../../../domain/kernel/transfer/csv-cells.ts';
import { forAllAsync } from '../../../support/property.ts';
import { cards, collect, faultsOf, inPieces, relations } from './read.support.ts';
import wholeRow from './read-csv.row.json' with { type: 'json' };

function read(content: string | Buffer, options: Partial<ReadCsvOptions<'cards'>> = {}) {
  return collect(readCsv(inPieces(content), { ...cards, empty: 'leave', ...options }));
}

describe('values', () => {
  it('reads each field and attribute by its type', async () => {
    const [row] = await read(
      [
        'attributes.score,attributes.runCost,attributes.critical,attributes.reviewed,attributes.regions,attributes.tier,' +
          'attributes.note,type,external_id,name,parent_path,tags,stakeholders,lifecycle.active,status',
        `3.5,-20,true,2024-02-29,"eu;a\\;b",gold," kept ",Application, A-1 ,"  two  blanks ",Sales / EU\\/UK,` +
          `Region/EU;Phase/Run,owner:ada@example.org,2020-01-01,ARCHIVED`,
      ].join('\n'),
    );
    expect(row).toEqual(wholeRow);
  });

  it('says for each cell that cannot be read why, and keeps the others', async () => {
    const rows = await read(
      'type,name,id,status,lifecycle.plan,attributes.score,attributes.critical,attributes.reviewed,tags,stakeholders\n' +
        'Application,good,x,GONE,31.12.2020,"1,200",maybe,2023-02-30,loose,nobody\n' +
        `Application,${'n'.repeat(501)},,,,,,,,\n` +
        'Interface,attribute of another type,,,,a text here,,,,\n',
    );
    expect(faultsOf(rows)).toEqual([
      ...['id bad_id', 'status unknown_option', 'tags bad_tag', 'stakeholders bad_stakeholder'].map(
        (f) => `2: ${f}`,
      ),
      ...['lifecycle.plan bad_date', 'attributes.score bad_number'].map((f) => `2: ${f}`),
      ...['attributes.critical bad_boolean', 'attributes.reviewed bad_date'].map((f) => `2: ${f}`),
      '3: name too_long',
    ]);
    expect(rows[0]!.values).toEqual({ type: 'Application', name: 'good' });
    expect(rows[2]!.values.attributes).toEqual({ score: 'a text here' });
    for (const { message } of rows[0]!.errors) expect(message).not.toContain('200');
  });

  it('passes an attribute on as it stands when the type has none of that name', async () => {
    const [row] = await read('type,name,attributes.critical\nInterface,x,maybe\n');
    expect(row).toMatchObject({ values: { attributes: { critical: 'maybe' } }, errors: [] });
  });

  it('takes the guard of formulas off', async () => {
    const rows = await read(`type,name\nApplication,'=1+1\nApplication,-Archive\nApplication,'tis\n`);
    expect(rows.map(({ values }) => values.name)).toEqual(['=1+1', '-Archive', "'tis"]);
  });

  it('misses a type or the ends of a relation only in rows without an id', async () => {
    const id = '0190a5d6-7c1e-7000-8000-000000000001';
    expect(faultsOf(await read(`id,type,name\n${id},,x\n,,y\n`))).toEqual(['3: type required']);
    const rows = await collect(
      readCsv(
        inPieces(`id,type,source_external_id,target_id,attributes.share\n${id},,,,2\n,,,,\n,rel,a,${id},x`),
        { ...relations, empty: 'leave' },
      ),
    );
    expect(faultsOf(rows)).toEqual(['4: attributes.share bad_number']);
    expect(rows[0]).toMatchObject({ kind: 'relations', values: { id, attributes: { share: 2 } } });
    expect(rows[1]!.values).toEqual({ type: 'rel', source_external_id: 'a', target_id: id });
  });
});

describe('empty cells', () => {
  const file =
    'type,external_id,name,alias,parent_id,parent_path,lifecycle.plan,attributes.note,attributes.protocol\n' +
    'Application,A,x,,,,,,\n';

  it('leave values as they are', async () => {
    const [row] = await read(file);
    expect(row).toMatchObject({ values: { type: 'Application', external_id: 'A', name: 'x' } });
    expect(Object.keys(row!.values)).toHaveLength(3);
  });

  it('clear values if asked to, but for attributes that the type does not have', async () => {
    const [row] = await read(file, { empty: 'clear' });
    expect(row!.values).toEqual({
      type: 'Application',
      external_id: 'A',
      name: 'x',
      alias: null,
      parent_id: null,
      lifecycle: { plan: null },
      attributes: { note: null },
    });
  });

  it('do not clear a parent that another column names', async () => {
    const [row] = await read(file.replace('A,x,,,,', 'A,x,,,Sales,'), { empty: 'clear' });
    expect(row!.values).toMatchObject({ parent_path: ['Sales'] });
    expect(row!.values).not.toHaveProperty('parent_id');
  });
});

describe('the file', () => {
  it('knows separators, byte order mark, line ends, quoted line breaks and empty lines; lines are those of the file', async () => {
    const expected = [
      [2, 'a;b,c\td'],
      [3, 'two\r\nlines'],
      [6, 'after an empty line'],
      [8, 'last'],
    ];
    for (const separator of [',', ';', '\t'] as const) {
      const lines = [
        `type${separator}name`,
        `Application${separator}"a;b,c\td"`,
        `Application${separator}"two\r\nlines"`,
        '',
        `Application${separator}after an empty line`,
        separator,
        `Application${separator}last`,
      ];
      for (const end of ['\n', '\r\n', '\r']) {
        // a line break inside quotes is refused in a name, so descriptions are read
        const file = `\ufeff${lines.join(end)}`
          .replace('name', 'description')
          .replace('type', 'id')
          .replaceAll('Application', '');
        const rows = await read(file);
        expect(rows.map(({ line, values }) => [line, values.description])).toEqual(expected);
        expect(await read(file, { separator })).toEqual(rows);
      }
    }
  });

  it('refuses a file without a header, or one that is no text', async () => {
    const code = (content: string | Buffer) =>
      read(content).then(
        () => 'read',
        (error) => error.errors[0].code,
      );
    expect(await code('')).toBe('empty_file');
    expect(await code('\ufeff\r\n\r\n')).toBe('empty_file');
    expect(await code(Buffer.from('\ufefftype,name\n', 'utf16le'))).toBe('bad_encoding');
    expect(await code(Buffer.from([0x50, 0x4b, 3, 4, 0, 0, 0xff]))).toBe('bad_encoding');
    expect(await code('type,"name\nApplication,x')).toBe('unclosed_quote');
    expect(await code('type,nope\nApplication,x')).toBe('unknown_column');
    expect(await read('type,name')).toEqual([]);
  });

  it('refuses single rows whose bytes or characters cannot be stored', async () => {
    const file = Buffer.concat([
      Buffer.from('type,name\n'),
      Buffer.from('Application,M\xfcller\n', 'latin1'),
      Buffer.from('Application,sound \ufffd ü 漢\n'),
      Buffer.from('Application,nul\0\n'),
      Buffer.from('Application,cut '),
      Buffer.from([0xe6, 0xbc]),
    ]);
    for (const size of [1, 2, 3, 1000]) {
      const rows = await collect(readCsv(inPieces(file, size), { ...cards, empty: 'leave' }));
      expect(faultsOf(rows)).toEqual(['2: name bad_encoding', '4: name bad_text', '5: name bad_encoding']);
      expect(rows[1]!.values.name).toBe('sound \ufffd ü 漢');
    }
  });

  it('goes on behind rows that are broken', async () => {
    const rows = await read(
      [
        'type,name,description',
        'Application,n,x"y',
        'Application,n,good 1',
        'Application,n,"x"y',
        'Application,n,"two',
        'lines"y',
        'Application,n,good 2',
        'Application',
        'Application,n,a,b',
        'Application,n,good 3',
        'Application,n,"open',
        'Application,n,swallowed',
      ].join('\r\n'),
    );
    expect(faultsOf(rows)).toEqual([
      ...['2: row bad_quote', '4: row bad_quote', '5: row bad_quote'],
      ...['8: row wrong_cell_count', '9: row wrong_cell_count', '11: row unclosed_quote'],
    ]);
    expect(rows.flatMap(({ line, values }) => (values.type ? [[line, values.description]] : []))).toEqual([
      [3, 'good 1'],
      [7, 'good 2'],
      [10, 'good 3'],
    ]);
    expect(rows.find(({ line }) => line === 9)!.errors[0]!.message).toBe('has 4 cells and the header 3');
  });

  it('refuses records over 1 MiB without holding them, and goes on behind them', async () => {
    const huge = 'x'.repeat(3 * 1024 * 1024);
    const file = `type,name,description\nApplication,n,"${huge}\r\n""${huge}"\nApplication,n,good\nApplication,n,${huge}\nApplication,n,fine`;
    const rows = await collect(readCsv(inPieces(file, 65_536), { ...cards, empty: 'leave' }));
    expect(faultsOf(rows)).toEqual(['2: row too_long', '5: row too_long']);
    expect(rows.map(({ line, values }) => [line, values.description])).toEqual([
      [2, undefined],
      [4, 'good'],
      [5, undefined],
      [6, 'fine'],
    ]);
  });

  it('makes batches of the size asked for, smaller ones of large rows', async () => {
    const sizes = async (file: string, batchRows: number) => {
      const found: number[] = [];
      for await (const batch of readCsv(inPieces(file, 10_000), { ...cards, empty: 'leave', batchRows }))
        found.push(batch.length);
      return found;
    };
    expect(await sizes(`type,name,description\n${'Application,n,x\n'.repeat(25)}`, 10)).toEqual([10, 10, 5]);
    const large = `Application,n,${'x'.repeat(90_000)}\n`;
    const found = await sizes(`type,name,description\n${large.repeat(100)}`, 1_000);
    expect(found.reduce((sum, size) => sum + size)).toBe(100);
    expect(Math.max(...found)).toBeLessThan(60);
  });

  it('reads any texts back that a writer of CSV has written, guarded', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({
        unit: fc.constantFrom('"', "'", '=', ',', ';', '\t', '\r', '\n', ' ', 'a', 'ß', '漢', '😀'),
      }),
    );
    await forAllAsync(
      100,
      [
        fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 8 }),
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 1, max: 40 }),
      ],
      async (pairs, delimiter, end, size) => {
        const wanted = pairs.map((pair) => pair.map((value) => value.replaceAll('\0', '')));
        const table = [
          ['type', 'name', 'description', 'attributes.note'],
          ...wanted.map((pair) => ['Application', 'n', ...pair]),
        ];
        const file = stringify(
          table.map((cells, n) => (n === 0 ? cells : cells.map(neutralise))),
          { delimiter, record_delimiter: end, quoted_match: /[\r\n]/ },
        );
        const rows = await collect(readCsv(inPieces(file, size), { ...cards, empty: 'leave' }));
        expect(rows.map(({ values }) => [values.description ?? '', values.attributes?.note ?? ''])).toEqual(
          wanted,
        );
        expect(faultsOf(rows)).toEqual([]);
      },
    );
  });

  it('reads the same wherever blocks of the file are cut', async () => {
    const tricky = ['a""b', '""', 'two\r\nlines', 'ü漢😀', '\r', 'x,y'];
    const tail = tricky.map((text) => `Application,n,"${text}"\r\n`).join('');
    const broken = 'Application,n,"x"y\r\nApplication,n,x"y\r\n';
    const expected = ['a"b', '"', 'two\r\nlines', 'ü漢😀', '\r', 'x,y'];
    for (let before = 0; before < tail.length + broken.length; before += 1) {
      const head = 'type,name,description\r\nApplication,n,';
      const file = `${head}${'x'.repeat(65_536 - head.length - 2 - before)}\r\n${tail}${broken}${tail}`;
      const rows = await collect(readCsv(inPieces(file, 16_384), { ...cards, empty: 'leave' }));
      expect(rows.slice(1).flatMap(({ values }) => values.description ?? [])).toEqual([
        ...expected,
        ...expected,
      ]);
      expect(faultsOf(rows)).toEqual(['11: row bad_quote', '12: row bad_quote']);
      expect(rows.at(-1)!.line).toBe(20);
    }
  });

  it('answers any bytes with rows or with one refusal, never with another failure', async () => {
    const byte = fc.constantFrom(...Buffer.from('a,;\t"\r\n\'='), 0, 0xff, 0xc3, 0xbc);
    await forAllAsync(
      100,
      [fc.array(byte, { maxLength: 60 }), fc.integer({ min: 1, max: 70 })],
      async (bytes, size) => {
        const file = Buffer.concat([Buffer.from('type,name\n'), Buffer.from(bytes)]);
        const options = { ...cards, empty: 'clear' as const };
        const whole = await collect(readCsv(inPieces(file, 1_000), options));
        expect(await collect(readCsv(inPieces(file, size), options))).toEqual(whole);
        await collect(readCsv(inPieces(Buffer.from(bytes), size), options)).catch((error) =>
          expect(error.status).toBe(422),
        );
      },
    );
  });
});
