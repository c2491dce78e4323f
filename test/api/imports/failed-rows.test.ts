// @redis
import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, openApp, type TestClient } from '../../support/harness.ts';
import { untilReported } from '../../support/jobs.ts';
import { readWorkbook, workbook, XLSX } from '../../support/workbook.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);
closeAfterAll(await startWorkers(t.services));

const send = async (
  query: string,
  payload: string | Buffer,
  type = 'text/csv',
  client: TestClient = member,
) => {
  const { body } = await client.request({
    method: 'POST',
    url: `/api/v1/imports?${query}`,
    headers: { 'content-type': type },
    payload,
  });
  await untilReported(t.services, body.job_id);
  return body.job_id as string;
};
const download = (id: string, format: string, client: TestClient = member) =>
  client.request({ method: 'GET', url: `/api/v1/imports/${id}/report?format=${format}` });
const csvOf = async (id: string) => (await download(id, 'csv')).text;

const file = [
  'External ID;Name;type;attributes.businessCriticality;lifecycle.active;description',
  'F-1;Good;Application;;;',
  "F-2;'=1+1;Application;Mision critical;2020-02-30;-x",
  'F-3;"Two\nlines";Applicaton;;;"a ""quote"""',
  '',
].join('\n');

it('the failed rows come back as they were sent, with their reasons, and are imported when corrected', async () => {
  const id = await send('mode=create', file);
  const csv = await csvOf(id);
  const [head, two] = csv.split('\r\n');
  expect(head).toBe(
    '\ufeffExternal ID,Name,type,attributes.businessCriticality,lifecycle.active,description,import_errors',
  );
  expect(two).toMatch(
    /^F-2,'=1\+1,Application,Mision critical,2020-02-30,'-x,"lifecycle.active: .*perhaps missionCritical/,
  );
  expect(csv).toContain('F-3,"Two\nlines",Applicaton,,,"a ""quote""",');
  expect(csv).not.toContain('F-1');
  const corrected = csv
    .replace('Mision critical', 'missionCritical')
    .replace('2020-02-30', '2020-02-29')
    .replace('Two\nlines', 'Two lines')
    .replace('Applicaton', 'Application');
  const again = await send('mode=create', corrected);
  const job = await db('jobs').where({ id: again }).first();
  expect(job.counts).toMatchObject({ total: 2, created: 2, failed: 0 });
  const [card] = await db('cards').where({ external_id: 'F-2' });
  expect(card).toMatchObject({ name: '=1+1', description: '-x', lifecycle: { active: '2020-02-29' } });
  await expectProblem(await download(again, 'csv'), 404, 'job_result_missing');
  // sent again without a correction, the reasons are replaced
  const once = await send('mode=upsert', csv);
  expect((await csvOf(once)).match(/import_errors/g)).toHaveLength(1);
});

it('every error of the report has its value', async () => {
  const id = await send('mode=create&report=all', file);
  const rows = (await download(id, 'ndjson')).text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const errors = rows
    .flatMap((row) => row.errors)
    .map(({ field, value, nearest, allowed }) => [field, value, nearest, allowed?.[0]]);
  expect(errors).toEqual([
    ['external_id', 'F-1', undefined, undefined],
    ['lifecycle.active', '2020-02-30', undefined, undefined],
    ['attributes.businessCriticality', 'Mision critical', 'missionCritical', 'missionCritical'],
    ['external_id', 'F-2', undefined, undefined],
    ['name', 'Two\nlines', undefined, undefined],
    ['type', 'Applicaton', 'Application', 'Application'],
  ]);
});

it('the rows of a workbook come back by sheet', async () => {
  const head = ['type', 'external_id', 'name'];
  const book = await workbook({
    Apps: [
      head,
      ['Application', 'W-1', 'One'],
      ['Application', 'W-2', null],
      ['Application', 'W-3', '=x'],
      ['Application', 'W-5', { formula: 'A1&"open"' }],
    ],
    Components: [
      [...head, 'subtype'],
      ['ITComponent', 'W-4', 'Four', 'sofware'],
    ],
  });
  const id = await send('mode=create', book, XLSX);
  const { status, raw } = await download(id, 'xlsx');
  expect(status).toBe(200);
  const read = await readWorkbook(raw);
  expect(read.worksheets.map(({ name }) => name)).toEqual(['Apps', 'Components']);
  const cells = (n: number) =>
    read.worksheets[n]!.getSheetValues()
      .slice(1)
      .map((row) => (row as unknown[]).slice(1));
  expect(cells(0)).toEqual([
    [...head, 'import_errors'],
    ['Application', 'W-2', undefined, 'name: must not be blank'],
    // sent again without a correction, it clears nothing
    ['Application', 'W-5', '#N/A', expect.stringContaining('is a formula without a result')],
  ]);
  expect(cells(1)[1]!.slice(0, 4)).toEqual(['ITComponent', 'W-4', 'Four', 'sofware']);
  await expectProblem(await download(id, 'csv'), 422, 'validation_failed');
});

it('sheets come back with columns that only show, and without those that follow from their names', async () => {
  const relations = ['type', 'source_external_id', 'source_name', 'target_external_id'];
  const book = await workbook({
    Initiative: [
      ['Name', 'Status'],
      ['I', 'On Trak'],
    ],
    Relations: [relations, ['relAppToITC', 'W-8', 'shown', 'W-9']],
  });
  const rowOf = async (kind: string, sheet: string) => {
    const { raw } = await download(await send(`mode=create&kind=${kind}`, book, XLSX, admin), 'xlsx', admin);
    return ((await readWorkbook(raw)).getWorksheet(sheet)!.getRow(2).values as unknown[]).slice(1);
  };
  expect(await rowOf('cards', 'Initiative')).toMatchObject([
    'I',
    'On Trak',
    expect.stringContaining('perhaps onTrack'),
  ]);
  expect(await rowOf('relations', 'Relations')).toMatchObject([
    'relAppToITC',
    'W-8',
    'shown',
    'W-9',
    expect.any(String),
  ]);
});

it('rows of NDJSON come back as columns', async () => {
  const rows = [
    {
      type: 'Application',
      external_id: 'J-1',
      name: 'J',
      attributes: { costTotalAnnual: 'x' },
      tags: ['A/B', 'C;/D'],
    },
    {
      type: 'Application',
      external_id: 'J-2',
      parent_path: ['a/b', 'c'],
      name: null,
      lifecycle: { active: 'x' },
    },
  ];
  const text = `${rows.map((row) => JSON.stringify(row)).join('\n')}\n{"broken\n`;
  const id = await send('mode=create', text, 'application/x-ndjson', admin);
  const csv = (await download(id, 'csv', admin)).text;
  const lines = csv.split('\r\n');
  expect(lines[0]).toBe(
    '\ufefftype,external_id,name,attributes.costTotalAnnual,tags,parent_path,lifecycle.active,import_errors',
  );
  expect(lines[1]).toContain('Application,J-1,J,x,"A/B;C\\;/D",,,');
  expect(lines[2]).toContain('Application,J-2,,,,a\\/b / c,x,');
  expect(lines[3]).toBe(',,,,,,,"is not JSON: {""broken"');
  const report = (await download(id, 'ndjson', admin)).text;
  // a refused cost is not repeated in the report, which needs no right to see costs
  expect(JSON.parse(report.split('\n')[0]!).errors[0]).not.toHaveProperty('value');
});

it('of rows that have no valid cells, the whole line comes back with the reason', async () => {
  const csv =
    'type,external_id,name\nApplication,L-1\nApplication,L-2,a,b\nApplication,L-3,"a"b\nApplication,L-4,"a\n';
  const lines = (await csvOf(await send('mode=create', csv))).split('\r\n');
  expect(lines.slice(1, 5)).toEqual([
    ',,,"has 2 cells and the header 3: Application,L-1"',
    ',,,"has 4 cells and the header 3: Application,L-2,a,b"',
    expect.stringMatching(/^,,,"has a quote inside a cell; .*: Application,L-3,""a""b"$/),
    expect.stringMatching(/^,,,"opens a quote that is not closed .*: Application,L-4,""a"$/),
  ]);
  // sent again as they are, they fail again
  const again = await send('mode=create', await csvOf(await send('mode=create', csv)));
  expect((await db('jobs').where({ id: again }).first()).counts).toMatchObject({ total: 4, failed: 4 });
  const book = await workbook({
    Apps: [
      ['type', 'name'],
      ['Application', 'a', 'beyond'],
    ],
  });
  const read = await readWorkbook((await download(await send('mode=create', book, XLSX), 'xlsx')).raw);
  const reason = 'has a value in column 3, which the header does not name: Application,a,beyond';
  expect(read.worksheets[0]!.getRow(2).values).toEqual([undefined, undefined, undefined, reason].slice(0, 4));
});

it('columns with costs are left out for those who do not see costs', async () => {
  const csv =
    'type,name,attributes.costTotalAnnual\nApplication,K,x\nApplication,4711\nApplication,K,"4"711\n';
  const id = await send('mode=create', csv, 'text/csv', admin);
  expect((await download(id, 'csv', admin)).text).toContain('attributes.costTotalAnnual');
  const blind = await t.as('viewer');
  await db('jobs').where({ id }).update({ owner_id: blind.userId });
  const report = db('jobs').where({ id }).select('result_file_id');
  await db('files').whereIn('id', report).update({ owner_id: blind.userId });
  const [head, row, ...others] = (await download(id, 'csv', blind)).text.split('\r\n');
  expect(head).toBe('\ufefftype,name,import_errors');
  expect(row).toMatch(/^Application,K,"attributes\.costTotalAnnual: /);
  // nobody knows which values of a line are costs if it has another number of cells, or invalid ones
  expect(others.slice(0, 2)).toEqual([
    ',,"has 2 cells and the header 3; its values are left out, since some may be costs"',
    expect.stringMatching(/^,,"has a quote inside a cell; .*; its values are left out/),
  ]);
});

it('columns with costs are left out by former keys of their fields too', async () => {
  const fields = [
    { key: 'size', label: 'Size', type: 'number', weight: 1 },
    { key: 'cost', label: 'Cost', type: 'cost', weight: 1 },
  ];
  const fields_schema = [{ section: 'Site', fields }];
  const type = await admin.post('/api/v1/metamodel/types', { key: 'Site', label: 'Site', fields_schema });
  expect(type.status, type.text).toBe(201);
  const rename = (from: string, key: string) =>
    admin.post(`/api/v1/metamodel/types/Site/fields/${from}/rename`, {
      key,
      removal: new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10),
    });
  expect((await rename('cost', 'price')).status).toBe(200);
  const csv = [
    'type,name,attributes.size,attributes.cost',
    'Site,A,x,88881',
    'Site,B,1,88882,9',
    'Site,C,"1"x,88883',
    'Site,D,1,8888z',
    'Site,E,"1,88884',
  ];
  const rows = [
    { type: 'Site', name: 'F', attributes: { size: 'x', cost: 88885 } },
    { type: 'Site', name: 'G', attributes: { cost: '8888z' } },
  ];
  const jobs = [
    await send('mode=create', csv.join('\n'), 'text/csv', admin),
    await send(
      'mode=create',
      `${rows.map((row) => JSON.stringify(row)).join('\n')}\n{"cost":88886`,
      'application/x-ndjson',
      admin,
    ),
    await send(
      'mode=create',
      await workbook({ Cards: csv.slice(0, 2).map((line) => line.split(',')) }),
      XLSX,
      admin,
    ),
  ];
  expect(await textsOf(jobs, admin)).toMatch(/88881.*88886/s);
  const blind = await t.as('viewer');
  for (const id of jobs) {
    await db('jobs').where({ id }).update({ owner_id: blind.userId });
    const report = db('jobs').where({ id }).select('result_file_id');
    await db('files').whereIn('id', report).update({ owner_id: blind.userId });
  }
  const shown = await textsOf(jobs, blind);
  expect(shown).toContain('type,name,attributes.size,import_errors');
  expect(shown).not.toMatch(/8888|attributes\.cost,/);
  // whoever renames the field again hides no less
  expect((await rename('price', 'amount')).status).toBe(200);
  expect(await textsOf(jobs, blind)).not.toMatch(/8888|attributes\.cost,/);
});

/** All that the reports of imports show, in each format. */
async function textsOf(jobs: string[], client: TestClient): Promise<string> {
  const texts: string[] = [];
  for (const id of jobs) {
    texts.push((await download(id, 'csv', client)).text, (await download(id, 'ndjson', client)).text);
    const book = await readWorkbook((await download(id, 'xlsx', client)).raw);
    for (const sheet of book.worksheets) texts.push(JSON.stringify(sheet.getSheetValues()));
  }
  return texts.join('\n');
}

it('a ticket opens the report once, in the chosen format; expired rows leave the report', async () => {
  const id = await send('mode=create', file);
  const { body } = await member.post(`/api/v1/imports/${id}/ticket`);
  const open = () =>
    t.app.inject({ method: 'GET', url: `/api/v1/imports/${id}/report?format=csv&ticket=${body.ticket}` });
  expect((await open()).statusCode).toBe(200);
  expect((await open()).statusCode).toBe(401);
  const { result } = await db('jobs').where({ id }).first();
  await db('files')
    .where({ id: result.failed_rows.file_id })
    .update({ expires_at: new Date(0) });
  await expectProblem(await download(id, 'xlsx'), 404, 'job_result_missing');
  expect((await download(id, 'ndjson')).status).toBe(200);
});
