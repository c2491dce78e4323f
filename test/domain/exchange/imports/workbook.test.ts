import type ExcelJS from 'exceljs';
import type { ExportRequest } from '../../../../domain/exchange/exports/export.job.ts';
import { readFailedRows } from '../../../../domain/exchange/imports/imports.failed.ts';
import { exported } from '../../../support/exports.ts';
import { openImports } from '../../../support/imports.ts';
import { readWorkbook } from '../../../support/workbook.ts';

const { t, imports } = await openImports();
const { db } = t.services;
await db.raw(`with g as (insert into tag_groups (name) values ('A/B; C') returning id)
     insert into tags (tag_group_id, name) select id, unnest(array['One; two', '=Three', 'Four\\']) from g;
     insert into users (email, display_name, role) values ('ann@estate.example', 'Ann', 'member')`);

// two fields of one type, and two options of one field, have the same label
await db.raw(`update card_types set fields_schema = fields_schema || '[{"section": "Twins", "fields": [
    {"key": "twinOne", "label": "Twin", "type": "text", "weight": 0},
    {"key": "twinTwo", "label": "Twin", "type": "date", "weight": 0},
    {"key": "nameLabel", "label": "Name", "type": "text", "weight": 0},
    {"key": "exact", "label": "Exact", "type": "number", "weight": 0},
    {"key": "colours", "label": "Colours", "type": "multiple_select", "weight": 0, "options": [
      {"key": "red1", "label": "Red; dark"}, {"key": "red2", "label": "Red; dark"}, {"key": "blue", "label": "Blue", "translations": {"de": "Blau"}}]}
  ]}]'::jsonb where key = 'Application'`);
await db.raw(`insert into topic_versions (topic, version) values ('metamodel', 1)
     on conflict (topic) do update set version = topic_versions.version + 1`);

const texts = [
  '=SUM(A1)',
  "'+1",
  '_x000D_ and _x0041_',
  ' spaces ',
  'two\nlines',
  '😀 Größe',
  '0042',
  '1e5',
  'TRUE',
  '2020-01-01',
];
const app = (external_id: string | null, name: string, more: object = {}) => ({
  type: 'Application',
  ...(external_id === null ? {} : { external_id }),
  name,
  ...more,
});
const cards = await imports.run([
  { type: 'BusinessCapability', external_id: 'C-1', name: 'A / B', attributes: { capabilityLevel: 'Macro' } },
  { type: 'BusinessCapability', external_id: 'C-2', name: 'C \\', parent_external_id: 'C-1' },
  { type: 'BusinessCapability', name: 'Keyless', parent_path: ['A / B', 'C \\'] },
  ...texts.map((text, n) =>
    app(`T-${n}`, `${text.replace('\n', ' ')} ${n}`, {
      description: text,
      alias: '-',
      attributes: { twinOne: text },
    }),
  ),
  app('2', 'dates', {
    subtype: 'microservice',
    lifecycle: { plan: '1850-02-28', active: '2020-02-29', endOfLife: '2031-12-31' },
    attributes: { twinTwo: '1999-12-31', colours: ['red2', 'blue'], nameLabel: 'x' },
  }),
  app('3', '漢字, Größe; العربية', {
    attributes: {
      businessCriticality: 'missionCritical',
      costTotalAnnual: -0.1,
      commercialApplication: false,
      exact: 0.1 + 0.2,
    },
    tags: ['A\\/B; C/One; two', 'A\\/B; C/=Three', 'A\\/B; C/Four\\\\'],
    stakeholders: ['responsible:ann@estate.example', 'observer:ann@estate.example'],
    approval_status: 'APPROVED',
  }),
  app('4', 'archived', { status: 'ARCHIVED' }),
  app(null, 'no key', { attributes: { exact: 123_456_789.123_456_78 } }),
  { type: 'ITComponent', external_id: '1', name: 'Component' },
]);
expect(cards.faults).toEqual({});
const count = cards.job.counts!.total!;
await imports.run(
  ['2', '3'].map((source_external_id) => ({
    type: 'relAppToITC',
    source_external_id,
    target_external_id: '1',
    description: '@relation; one',
    attributes: { costTotalAnnual: 7 },
  })),
  { kind: 'relations' },
);

const layout = 'sheet_per_type';
const workbookOf = async (more: Partial<ExportRequest> = {}): Promise<Buffer> =>
  (await exported(t, await t.ctx(), { format: 'xlsx', layout, ...more })).content;

const unchanged = (total: number) => ({ total, created: 0, updated: 0, unchanged: total, failed: 0 });

async function importBoth(file: Buffer, empty: 'leave' | 'clear' = 'leave') {
  const counts: Record<string, unknown> = {};
  for (const kind of ['cards', 'relations'] as const) {
    const options = { format: 'xlsx', kind, empty, mode: 'upsert' } as const;
    const { job, faults } = await imports.file(file, options);
    expect(faults).toEqual({});
    counts[kind] = job.counts;
  }
  return counts;
}

const saved = async (book: ExcelJS.Workbook): Promise<Buffer> => Buffer.from(await book.xlsx.writeBuffer());

/** The column of a sheet below a title. */
function columnOf(sheet: ExcelJS.Worksheet, title: string): number {
  const at = (sheet.getRow(1).values as unknown[]).indexOf(title);
  expect(at, `${title} in ${sheet.name}`).toBeGreaterThan(0);
  return at;
}

const rowWith = (sheet: ExcelJS.Worksheet, title: string, value: unknown): ExcelJS.Row => {
  const at = columnOf(sheet, title);
  const rows = sheet.getRows(2, sheet.rowCount - 1) ?? [];
  return rows.find((row) => row.getCell(at).value === value)!;
};

for (const [headers, language] of [
  ['keys', 'en'],
  ['labels', 'en'],
  ['labels', 'de'],
] as const) {
  it(`comes back with ${headers} in ${language} and changes nothing`, async () => {
    const file = await workbookOf({ headers, language });
    for (const empty of ['leave', 'clear'] as const) {
      expect(await importBoth(file, empty)).toEqual({ cards: unchanged(count), relations: unchanged(2) });
    }
    // saved by another program
    const again = await saved(await readWorkbook(file));
    expect(await importBoth(again)).toEqual({ cards: unchanged(count), relations: unchanged(2) });
  });
}

it('has a sheet for each type with its own columns alone, and lists to choose from', async () => {
  const book = await readWorkbook(await workbookOf());
  const names = book.worksheets.map(({ name }) => name);
  expect(names).toEqual([...(await t.ctx()).metamodel.visibleTypes, 'Relations', 'Estate lists']);
  expect(book.getWorksheet('Estate lists')!.state).toBe('hidden');
  const sheet = book.getWorksheet('Application')!;
  const titles = (sheet.getRow(1).values as string[]).slice(1);
  expect(titles).toEqual(
    expect.arrayContaining(['id', 'type', 'subtype', 'parent_path', 'attributes.twinOne']),
  );
  expect(titles).not.toContain('attributes.capabilityLevel');
  expect(sheet.views[0]).toMatchObject({ state: 'frozen', ySplit: 1 });
  const letter = (title: string) => sheet.getColumn(columnOf(sheet, title)).letter;
  expect(sheet.autoFilter).toBe(`A1:${sheet.getColumn(titles.length).letter}${sheet.rowCount}`);

  const { model } = (
    sheet as unknown as { dataValidations: { model: Record<string, ExcelJS.DataValidation> } }
  ).dataValidations;
  const rule = (title: string) => model[`${letter(title)}2`];
  expect(model[`${letter('status')}${sheet.rowCount + 100}`]).toEqual(rule('status'));
  const listed = (title: string) => {
    const [, column, last] = /^'Estate lists'!\$([A-Z]+)\$2:\$\1\$(\d+)$/.exec(
      rule(title)!.formulae[0] as string,
    )!;
    return Array.from(
      { length: Number(last) - 1 },
      (_, n) => book.getWorksheet('Estate lists')!.getCell(`${column}${n + 2}`).value,
    );
  };
  expect(listed('attributes.businessCriticality')).toContain('missionCritical');
  expect(listed('attributes.commercialApplication')).toEqual([true, false]);
  expect(listed('status')).toEqual(['ACTIVE', 'ARCHIVED']);
  expect(rule('attributes.colours')).toBeUndefined();
});

it('says in notes what columns are, and protects ids alone', async () => {
  const book = await readWorkbook(await workbookOf());
  const sheet = book.getWorksheet('Application')!;
  const noteOf = (title: string) => {
    const { note } = sheet.getRow(1).getCell(columnOf(sheet, title));
    return typeof note === 'string' ? note : note.texts!.map(({ text }) => text).join('');
  };
  expect(noteOf('attributes.colours')).toContain('A list to choose from would allow only one');
  expect(noteOf('attributes.colours')).toContain('red1, red2, blue');
  expect(noteOf('attributes.costTotalAnnual')).toMatch(/Amount in [A-Z]{3}/);
  expect(noteOf('lifecycle.active')).toContain('YYYY-MM-DD');
  const protection = (sheet as unknown as { sheetProtection: Record<string, unknown> }).sheetProtection;
  expect(protection).toMatchObject({
    sheet: true,
    sort: true,
    autoFilter: true,
    insertRows: true,
    deleteRows: true,
    formatColumns: true,
  });
  expect(protection).not.toHaveProperty('hashValue');
  const row = rowWith(sheet, 'external_id', '3');
  const isLocked = (title: string) => row.getCell(columnOf(sheet, title)).protection?.locked !== false;
  expect(['id', 'type', 'approval_status'].filter(isLocked)).toHaveLength(3);
  expect(
    ['name', 'description', 'external_id', 'attributes.businessCriticality', 'parent_path'].filter(isLocked),
  ).toEqual([]);
  expect(row.getCell(columnOf(sheet, 'attributes.commercialApplication')).value).toBe(false);
  expect(row.getCell(columnOf(sheet, 'attributes.costTotalAnnual')).value).toBe(-0.1);
  const dates = rowWith(sheet, 'external_id', '2');
  expect(dates.getCell(columnOf(sheet, 'lifecycle.active')).value).toEqual(new Date('2020-02-29T00:00:00Z'));
});

it('names fields and options of one label so that the import tells them apart', async () => {
  const book = await readWorkbook(await workbookOf({ headers: 'labels', language: 'de' }));
  const sheet = book.getWorksheet('Anwendung')!;
  const titles = (sheet.getRow(1).values as string[]).slice(1);
  expect(titles).toEqual(
    expect.arrayContaining([
      'Twin (twinOne)',
      'Twin (twinTwo)',
      'Name (nameLabel)',
      'Name',
      'Beschreibung',
      'Externe ID',
    ]),
  );
  expect(rowWith(sheet, 'Externe ID', '2').getCell(columnOf(sheet, 'Colours')).value).toBe(
    'Red\\; dark (red2);Blau',
  );
  expect(book.getWorksheet('Beziehungen')).toBeDefined();
});

it('changes what was edited and nothing else', async () => {
  const book = await readWorkbook(await workbookOf({ headers: 'labels' }));
  const sheet = book.getWorksheet('Application')!;
  const set = (externalId: string, title: string, value: ExcelJS.CellValue) => {
    rowWith(sheet, 'External ID', externalId).getCell(columnOf(sheet, title)).value = value;
  };
  set('T-0', 'Twin (twinTwo)', new Date('2026-05-04T00:00:00Z'));
  set('T-1', 'Description', { richText: [{ text: 'rich ' }, { text: 'text', font: { bold: true } }] });
  set('T-2', 'Colours', 'Blue;Red\\; dark (red1)');
  set('2', 'External ID', '0002');
  sheet.addRow([]).getCell(columnOf(sheet, 'Name')).value = 'of the sheet’s type';
  const relations = book.getWorksheet('Relations')!;
  rowWith(relations, 'Source', 'dates').getCell(columnOf(relations, 'Description')).value = 'edited';

  const file = await saved(book);
  const { job, faults } = await imports.file(file, { format: 'xlsx', mode: 'upsert', report: 'changes' });
  expect(faults).toEqual({});
  expect(job.counts).toMatchObject({ created: 1, updated: 4, unchanged: count - 4, failed: 0 });
  const changes = (await imports.events())
    .filter(({ event_type }) => event_type === 'card.updated')
    .map(({ data }) => data.changes);
  expect(changes).toEqual(
    expect.arrayContaining([
      { 'attributes.twinTwo': { old: null, new: '2026-05-04' } },
      { description: { old: texts[1], new: 'rich text' } },
      { 'attributes.colours': { old: null, new: ['blue', 'red1'] } },
      { external_id: { old: '2', new: '0002' } },
    ]),
  );
  expect(await db('cards').where({ name: 'of the sheet’s type' }).first('type')).toEqual({
    type: 'Application',
  });

  const related = await imports.file(file, { format: 'xlsx', kind: 'relations', mode: 'upsert' });
  expect(related.faults).toEqual({});
  expect(related.job.counts).toMatchObject({ updated: 1, unchanged: 1, failed: 0 });
});

it('imports the good rows of relations with German labels, and gives back the bad ones as they were sent', async () => {
  const book = await readWorkbook(await workbookOf({ headers: 'labels', language: 'de' }));
  const sheet = book.getWorksheet('Beziehungen')!;
  const add = (source: string) => {
    const row = sheet.addRow([]);
    const set = (title: string, value: string) => {
      row.getCell(columnOf(sheet, title)).value = value;
    };
    set('Typ', rowWith(sheet, 'Quelle', 'dates').getCell(columnOf(sheet, 'Typ')).value as string);
    set('Quelle', source);
    set('Quelle, nach externer ID', source);
    set('Ziel, nach externer ID', '1');
  };
  for (const source of ['T-3', 'NONE']) add(source);
  const options = { format: 'xlsx', kind: 'relations', mode: 'upsert' } as const;
  for (const dry_run of [true, false]) {
    const { job, report } = await imports.file(await saved(book), { ...options, dry_run });
    expect(job).toMatchObject({ status: 'succeeded', counts: { created: 1, unchanged: 2, failed: 1 } });
    expect(report).toMatchObject([
      { outcome: 'failed', errors: [{ field: 'source_external_id', value: 'NONE' }] },
    ]);
    const failed = await readFailedRows(await t.ctx(), t.services.blobs, job.id);
    const lines = [];
    for await (const line of failed.lines()) lines.push(line);
    expect(lines).toMatchObject([
      { sheet: 'Beziehungen', header: expect.arrayContaining(['Quelle', 'Typ der Quelle']) },
      { cells: expect.arrayContaining(['NONE']) },
    ]);
  }
});

it('refuses what does not go with the layout', async () => {
  await expect(workbookOf({ format: 'csv' })).rejects.toMatchObject({
    errors: [{ field: 'layout', code: 'only_xlsx' }],
  });
  await expect(workbookOf({ after: '0' })).rejects.toMatchObject({
    errors: [{ field: 'layout', code: 'not_with_after' }],
  });
  await expect(workbookOf({ layout: 'combined', headers: 'labels' })).rejects.toMatchObject({
    errors: [{ field: 'headers', code: 'only_sheet_per_type' }],
  });
});
