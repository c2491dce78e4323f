// @redis
import { askImport, openImports } from '../../../support/imports.ts';
import { untilStatus } from '../../../support/jobs.ts';
import { type Cell, workbook } from '../../../support/workbook.ts';

/* Workbooks as people send them. */

const { t, db, imports } = await openImports();
const xlsx = { format: 'xlsx', report: 'all' } as const;
const send = async (sheets: Record<string, Cell[][]>, options: object = {}) =>
  await imports.file(await workbook(sheets), { ...xlsx, ...options });
const head = ['type', 'external_id', 'name'];
const NOT_AVAILABLE: Cell = { error: '#N/A' };

it('reads a sheet for each type, and reports each row by its sheet', async () => {
  const { job, report } = await send({
    Applications: [
      [...head, 'lifecycle.active', 'attributes.costTotalAnnual', 'attributes.commercialApplication'],
      ['Application', 'X-1', 'Ledger', new Date('2024-02-29T00:00Z'), 1200.5, true],
      [],
      ['Application', 2, { formula: '"Pay"&"roll"', result: 'Payroll' }, '2024-02-30', null, null],
    ],
    Components: [head, ['ITComponent', 'X-3', '=1+1'], ['ITComponent', 'X-1', 'Database']],
    Notes: [['what nobody imports']],
    Relations: [
      ['type', 'source_external_id', 'target_external_id'],
      ['relAppToITC', 'X-1', 'X-3'],
    ],
  });
  expect(job.counts).toMatchObject({ total: 4, created: 3, failed: 1 });
  expect(report.map(({ sheet, line, external_id, outcome }) => [sheet, line, external_id, outcome])).toEqual([
    ['Applications', 2, 'X-1', 'created'],
    ['Applications', 4, '2', 'failed'],
    ['Components', 2, 'X-3', 'created'],
    ['Components', 3, 'X-1', 'created'],
  ]);
  expect(report[1]!.errors.map(({ field, code }) => [field, code])).toEqual([
    ['lifecycle.active', 'bad_date'],
  ]);
  const [ledger] = await db('cards').where({ external_id: 'X-1', type: 'Application' });
  expect(ledger).toMatchObject({ name: 'Ledger', lifecycle: { active: '2024-02-29' } });
  expect(ledger.attributes).toMatchObject({ costTotalAnnual: 1200.5, commercialApplication: true });
  // never taken for a formula, and read as it was written
  expect((await imports.card('X-3')).name).toBe('=1+1');
});

it('reads relations from their sheet, or from the one that is chosen', async () => {
  await send({ Any: [head, ['Application', 'R-1', 'Source'], ['ITComponent', 'R-2', 'Target']] });
  const rows = [
    ['type', 'source_external_id', 'target_external_id'],
    ['relAppToITC', 'R-1', 'R-2'],
  ];
  const first = await send({ Cards: [head], Relations: rows }, { kind: 'relations', mode: 'upsert' });
  expect(first.job.counts).toMatchObject({ total: 1, created: 1 });
  const chosen = { kind: 'relations', mode: 'upsert', sheet: 'Mine' };
  const second = await send({ Others: [['x']], Mine: rows }, chosen);
  expect(second.job.counts).toMatchObject({ total: 1, unchanged: 1 });
});

it('refuses what is no workbook, and sheets that are not there', async () => {
  const ctx = await t.ctx();
  const refused = async (content: Buffer, options: object = {}) =>
    await askImport(ctx, t.services, content, { ...xlsx, ...options }).catch((error) => error);
  expect(await refused(Buffer.from('PK is not enough'))).toMatchObject({ code: 'validation_failed' });
  const book = await workbook({ Relations: [['type']] });
  expect((await refused(book)).errors).toMatchObject([{ field: 'file', code: 'no_sheet' }]);
  expect((await refused(book, { sheet: 'Relation' })).errors).toMatchObject([
    { field: 'sheet', code: 'unknown_sheet', nearest: 'Relations' },
  ]);
  expect((await refused(Buffer.from('type,name\n'), { format: 'csv', sheet: 'A' })).errors).toMatchObject([
    { field: 'sheet', code: 'not_offered' },
  ]);
});

it('fails before any row when the header of a sheet is wrong, and names the sheet', async () => {
  const content = await workbook({ One: [head, ['Application', 'H-1', 'One']], Two: [['type', 'nmae']] });
  const id = await askImport(await t.ctx(), t.services, content, xlsx);
  const job = await untilStatus(t.services, id, 'failed');
  expect(job.error).toMatchObject({ code: 'validation_failed' });
  expect(job.error!.message).toMatch(/^The sheet Two: nmae: .*, perhaps name; name: /);
  expect(await imports.card('H-1')).toBeUndefined();
});

it('refuses rows with values beside the header, and texts that may have been cut', async () => {
  const { faults, report } = await send({
    Sheet: [
      [...head, 'description'],
      ['Application', 'C-1', 'Beside', null, 'who reads this'],
      ['Application', 'C-2', 'Cut', 'x'.repeat(32_767)],
      ['Application', 'C-3', 'Long', 'x'.repeat(10_000)],
      ['Application', 'C-4', 'Open', { formula: '1+1' }],
    ],
  });
  expect(faults).toMatchObject({
    2: ['row wrong_cell_count'],
    3: ['description too_long'],
    5: ['description not_calculated'],
  });
  expect(report.map(({ external_id }) => external_id)).toEqual(['C-1', 'C-2', 'C-3', 'C-4']);
  expect(await imports.card('C-3')).toBeDefined();
});

it('leaves values where a formula came to an error, and refuses errors where empty cells clear', async () => {
  await send({
    Sheet: [
      [...head, 'description'],
      ['Application', 'E-1', 'Failed', 'Kept'],
    ],
  });
  const failed = {
    Sheet: [
      [...head, 'description'],
      ['Application', 'E-1', 'Failed', NOT_AVAILABLE],
    ],
  };
  const left = await send(failed, { mode: 'upsert' });
  expect(left.job.counts).toMatchObject({ unchanged: 1, failed: 0 });
  const { faults } = await send(failed, { mode: 'upsert', empty: 'clear' });
  expect(faults).toMatchObject({ 2: ['description not_calculated'] });
  expect((await imports.card('E-1')).description).toBe('Kept');
});

it('reads labels of types, headers, options and booleans in any language, and keys as they are', async () => {
  const head = ['Name', 'Type', 'External ID', 'Subtype', 'Commercial application'];
  const { job, faults } = await send({
    English: [
      [...head, 'Business Criticality'],
      ['Labels', 'application', 'L-1', 'Microservice', 'yes', 'mission critical'],
      ['Keys', 'Application', 'L-2', 'microservice', true, 'missionCritical'],
      ['None', 'Application', 'L-3', null, 'perhaps', 'Mission possible'],
    ],
    German: [
      [...head, 'Geschäftskritikalität'],
      ['Deutsch', 'Anwendung', 'L-4', null, 'nein', 'Unternehmenskritisch'],
      ['Komponente', 'IT-Komponente', 'L-5', 'Software', null, null],
    ],
  });
  expect(faults).toEqual({
    4: ['attributes.commercialApplication bad_boolean', 'attributes.businessCriticality unknown_option'],
  });
  expect(job.counts).toMatchObject({ total: 5, created: 4, failed: 1 });
  const read = async (id: string) => {
    const { type, subtype, attributes } = await imports.card(id);
    return [type, subtype, attributes.commercialApplication, attributes.businessCriticality];
  };
  const both = ['Application', 'microservice', true, 'missionCritical'];
  expect(await Promise.all(['L-1', 'L-2'].map(read))).toEqual([both, both]);
  expect(await read('L-4')).toEqual(['Application', null, false, 'missionCritical']);
  expect(await read('L-5')).toEqual(['ITComponent', 'software', undefined, undefined]);
});

it('reads German headers, and a column Status as the state or as the field with this label', async () => {
  const { job, faults, report } = await send({
    Anwendungen: [
      ['Typ', 'Bezeichnung', 'Externe ID', 'Untertyp', 'Übergeordnet', 'Status', 'Beschreibung'],
      ['Anwendung', 'Oben', 'D-1', 'Microservice', null, 'Aktiv', 'Text'],
      ['Anwendung', 'Unten', 'D-2', 'Mikroservice', 'Oben', 'archiviert', null],
      ['Anwendung', 'Neben', 'D-3', null, 'Oben', 'ARCHIVED', null],
    ],
    Initiative: [
      ['Name', 'Externe ID', 'Status', 'Zustand'],
      ['Kurs', 'D-4', 'Im Plan', 'Archiviert'],
      ['Falsch', 'D-5', 'On Trak', null],
    ],
    Vorhaben: [
      ['Typ', 'Name', 'Externe ID', 'Status'],
      ['Initiative', 'Nur Status', 'D-6', 'On Track'],
      ['Initiative', 'Nur Zustand', 'D-7', 'ARCHIVED'],
    ],
  });
  expect(job.counts).toMatchObject({ created: 5, failed: 2 });
  expect(faults).toEqual({ 3: expect.any(Array) });
  const errors = report.flatMap((row) => row.errors);
  expect(errors).toMatchObject([
    { field: 'subtype', code: 'unknown_subtype', nearest: 'microservice', value: 'Mikroservice' },
    { field: 'attributes.initiativeStatus', code: 'unknown_option', nearest: 'onTrack' },
  ]);
  const read = async (id: string) => {
    const { status, attributes } = await imports.card(id);
    return [status, attributes.initiativeStatus];
  };
  expect(await Promise.all(['D-1', 'D-3', 'D-4', 'D-6', 'D-7'].map(read))).toEqual([
    ['ACTIVE', undefined],
    ['ARCHIVED', undefined],
    ['ARCHIVED', 'onTrack'],
    ['ACTIVE', 'onTrack'],
    ['ARCHIVED', undefined],
  ]);
});

it('refuses texts that are thousands in some languages and decimals in others', async () => {
  const { faults, job } = await send({
    Cards: [
      [...head, 'attributes.numberOfUsers', 'description'],
      ...[1.234, '1.5', '0.125', '1234', '1.234', ' 12,345 '].map((users, n) => [
        ...['Application', `N-${n}`, `N-${n}`, users, '1.234'],
      ]),
    ],
  });
  const wrong = ['attributes.numberOfUsers ambiguous_number'];
  expect(faults).toMatchObject({ 6: wrong, 7: [expect.stringContaining('attributes.numberOfUsers')] });
  expect(job.counts).toMatchObject({ created: 4, failed: 2 });
  expect((await imports.card('N-0')).attributes.numberOfUsers).toBe(1.234);
});

it('names rows of other sheets in messages, and takes the day of a date with a time', async () => {
  const { report } = await send({
    One: [
      [...head, 'lifecycle.active'],
      ['Application', 'S-1', 'First', new Date('2024-02-29T12:30Z')],
    ],
    Two: [head, ['Application', 'S-1', 'Again']],
  });
  expect(report[1]!.errors[0]!.message).toBe('row 2 of sheet 1 has the same key');
  expect((await imports.card('S-1')).lifecycle).toEqual({ active: '2024-02-29' });
});

it('refuses rows whose ids and external ids name different cards', async () => {
  await send({
    Cards: [
      [...head, 'parent_external_id'],
      ['BusinessCapability', 'P-1', 'Above'],
      ['BusinessCapability', 'P-2', 'Beside'],
      ['BusinessCapability', 'P-3', 'Below', 'P-1'],
    ],
  });
  const [above, below] = [await imports.card('P-1'), await imports.card('P-3')];
  const { faults, job } = await send(
    {
      Cards: [
        ['id', 'parent_id', 'parent_external_id'],
        [below.id, above.id, 'P-2'],
      ],
    },
    { mode: 'upsert' },
  );
  expect(faults).toEqual({ 2: ['parent_external_id other_external_id'] });
  expect(job.counts).toMatchObject({ failed: 1, updated: 0 });
});
