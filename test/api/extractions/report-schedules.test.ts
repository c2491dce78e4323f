// @redis
import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';
import { startSmtp, useSmtp } from '../../support/smtp.ts';
import { until } from '../../support/until.ts';
import { readWorkbook } from '../../support/workbook.ts';
import { attachmentOf, base, runNow } from './extractions.fixture.ts';

const { t, db, member, admin } = await openApp(['member', 'admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
closeAfterAll(await startWorkers(t.services));
const smtp = closeAfterAll(await startSmtp());
await useSmtp(t.services, smtp.port, { app_base_url: 'https://estate.example' });
const app = (name: string) =>
  member.post('/api/v1/cards', { type: 'Application', name, attributes: { costTotalAnnual: 4242 } });
await app('One <b>');
await app('漢字');

beforeEach(() => {
  smtp.mails.length = 0;
});

const page = (path: string, search: object = {}) => ({ path, search });
const q = { from: ['Application'], dimensions: [{ field: 'name' }], measures: [{ fn: 'count' }] };
const configs = {
  cost: page('/reports/cost', { type: 'Application', view: 'table' }),
  'bpm-dashboard': page('/reports/bpm/dashboard'),
  kpis: page('/reports/kpis'),
  query: page('/query', { q }),
  dashboard: {
    tiles: [
      { title: 'Costs', width: 2, ...page('/reports/cost', { type: 'Application' }) },
      { title: 'Apps', width: 4, ...page('/query', { q }) },
      { title: 'Nothing', width: 1, ...page('/import') },
    ],
  },
};
type Kind = keyof typeof configs;

const save = async (report_type: Kind | 'portfolio', config: object, more: object = {}, client = member) =>
  (await client.create('/api/v1/saved-reports', { name: `My ${report_type}`, report_type, config, ...more }))
    .id as string;

const weekly = (report: object, more: object = {}) => ({
  name: 'Weekly',
  cron: '0 7 * * 1',
  report,
  destination: { kind: 'mail', recipients: [member.email] },
  ...more,
});
const mailTo = (email: string, holds = '') =>
  until('the mail', async () =>
    smtp.mails.find(
      ({ to, headers, raw }) =>
        to.includes(email) &&
        headers.subject === 'Estate: Weekly' &&
        (holds === '' || attachmentOf(raw).toString().includes(holds)),
    ),
  );
const run = (id: string, status = 'succeeded', client = member) => runNow(t, client, id, status);

const begins: Record<string, string> = {
  csv: 'id,name,cost',
  xlsx: 'PK',
  pptx: 'PK',
  svg: '<svg ',
  png: '\x89PNG',
  pdf: '%PDF-1.',
};

describe('a schedule of a report', () => {
  it.each<[Kind, string]>([
    ['cost', 'csv'],
    ['cost', 'xlsx'],
    ['cost', 'svg'],
    ['cost', 'png'],
    ['cost', 'pdf'],
    ['cost', 'pptx'],
    ['bpm-dashboard', 'pdf'],
    ['kpis', 'csv'],
    ['kpis', 'svg'],
    ['query', 'csv'],
    ['query', 'pdf'],
    ['dashboard', 'pdf'],
    ['dashboard', 'png'],
    ['dashboard', 'xlsx'],
    ['dashboard', 'csv'],
  ])('puts a saved %s into the folder as %s', async (kind, format) => {
    const saved_report_id = await save(kind, configs[kind]);
    const { id } = await member.create(
      base,
      weekly({ saved_report_id, format }, { destination: { kind: 'disk' } }),
    );
    const made = await run(id);
    expect(made).toMatchObject({ status: 'succeeded', rows: null, error: null });
    expect(made.file_name).toMatch(new RegExp(`^report-.*\\.${format}$`));
    const file = await member.get(made.links.file);
    const content = file.raw.toString('latin1');
    if (kind === 'cost' || format !== 'csv')
      expect(content.startsWith(begins[format]!), content.slice(0, 40)).toBe(true);
    const manifest = (await member.get(made.links.manifest)).body;
    expect(manifest).toMatchObject({ format, report: { id: saved_report_id, report_type: kind } });
  });

  const fileOf = async (saved_report_id: string, more: object) => {
    const report = { saved_report_id, ...more };
    const { id } = await member.create(base, weekly(report, { destination: { kind: 'disk' } }));
    return (await member.get((await run(id)).links.file)).raw;
  };

  it('has a sheet for each tile of a dashboard, and one tile in CSV', async () => {
    const tiles = [
      ...configs.dashboard.tiles,
      page('/reports/kpis'),
      // streamed from the database
      { title: 'Apps', ...page('/reports/app-portfolio') },
    ];
    const board = await save('dashboard', { tiles });
    const book = await readWorkbook(await fileOf(board, { format: 'xlsx' }));
    expect(book.worksheets.map(({ name }) => name)).toEqual(['Costs', 'Apps', 'kpis', 'Apps 2']);
    const [costs, apps] = book.worksheets;
    expect(costs!.getRow(1).values).toEqual([undefined, 'id', 'name', 'cost']);
    // numbers are numbers
    expect(costs!.getRow(2).getCell(3).value).toBe(4242);
    expect(apps!.getRow(1).values).toEqual([undefined, 'name', 'count']);
    expect(apps!.getColumn(1).values).toContain('漢字');
    expect(book.worksheets[3]!.rowCount).toBeGreaterThan(2);
    expect((await fileOf(board, { format: 'csv' })).toString()).toContain('id,name,cost');
    const named = (await fileOf(board, { format: 'csv', table: 'Apps' })).toString();
    expect(named).toContain('name,count');
  });

  it('has headers of workbooks in the language of the schedule', async () => {
    const german = { format: 'xlsx', language: 'de' };
    for (const config of [configs.cost, configs.dashboard] as object[]) {
      const saved = await save('tiles' in config ? 'dashboard' : 'cost', config);
      const book = await readWorkbook(await fileOf(saved, german));
      expect(book.worksheets[0]!.getRow(1).values).toEqual([undefined, 'id', 'Name', 'Kosten']);
    }
    const portfolio = await save('portfolio', page('/reports/app-portfolio'), {
      report_type: 'app-portfolio',
    });
    const streamed = await readWorkbook(await fileOf(portfolio, german));
    expect(streamed.worksheets[0]!.getRow(1).values).toContain('Aktiv');
  });

  it('mails it with the key figures, and how they have changed since', async () => {
    const saved_report_id = await save('cost', configs.cost);
    const { id } = await member.create(base, weekly({ saved_report_id, format: 'pdf', language: 'de' }));
    const made = await run(id);
    const first = await mailTo(member.email);
    expect(attachmentOf(first.raw).subarray(0, 5).toString()).toBe('%PDF-');
    expect(first.text).toContain(`angehängt: ${made.file_name}`);
    expect(first.text).toMatch(/- Karten\r?\n {2}2\r?\n/);
    expect(first.text).toContain(
      `https://estate.example/reports/cost?type=Application&view=table&saved=${saved_report_id}`,
    );
    smtp.mails.length = 0;
    await app(`Another ${id}`);
    await run(id);
    const second = await mailTo(member.email);
    expect(second.text).toMatch(/- Karten\r?\n {2}3 \(\+1\)\r?\n/);
    expect(second.text).toMatch(/In Klammern: die Veränderung seit \d\d\.\d\d\.\d{4}\./);
    // a difference of percentages is in points
    expect(second.text).toMatch(/- Datenqualität\r?\n {2}[\d,]+\s% \([-+−]?[\d,]+ Prozentpunkte?\)/);
  });

  it('has titles and labels of a query in the language of the schedule', async () => {
    const attributes = { hostingType: 'onPremise' };
    await member.create('/api/v1/cards', { type: 'Application', name: 'Hosted', attributes });
    const query = {
      from: ['Application'],
      dimensions: [
        { field: 'attributes.hostingType' },
        { field: 'type' },
        { field: 'status' },
        { field: 'id' },
      ],
      measures: [{ fn: 'count' }, { fn: 'sum', field: 'attributes.costTotalAnnual', as: 'Total' }],
    };
    const saved = await save('query', page('/query', { q: query }));
    const [sheet] = (await readWorkbook(await fileOf(saved, { format: 'xlsx', language: 'de' }))).worksheets;
    expect(sheet!.name).toBe('My query');
    const [, ...headers] = sheet!.getRow(1).values as string[];
    expect(headers).toEqual(['Betriebsart', 'Typ', 'Status', 'id', 'Anzahl', 'Total']);
    expect(sheet!.getColumn(1).values).toContain('On-Premise');
    expect([2, 3].map((n) => sheet!.getRow(2).getCell(n).value)).toEqual(['Anwendung', 'Aktiv']);
    const [keys] = (await readWorkbook(await fileOf(saved, { format: 'xlsx' }))).worksheets;
    expect([keys!.name, keys!.getRow(1).getCell(1).value]).toEqual(['Query', 'attributes.hostingType']);
    expect(keys!.getColumn(1).values).toContain('onPremise');
  });

  it('is read, and changed from an export to a report and back', async () => {
    const saved_report_id = await save('query', configs.query);
    const report = { saved_report_id, format: 'csv' };
    const { id, ...made } = await member.create(base, weekly(report));
    expect(made).toMatchObject({ request: null, report, report_name: 'My query' });
    const changed = await ok(
      member.patch(`${base}/${id}`, { request: { format: 'csv', types: ['Application'] } }),
    );
    expect(changed).toMatchObject({ report: null, report_name: null, request: { kind: 'cards' } });
    const back = await ok(member.patch(`${base}/${id}`, { report }));
    expect(back).toMatchObject({ request: null, report });
    // a name of a report that somebody does not see is not told
    expect((await admin.get(`${base}/${id}`)).body.report_name).toBe(null);
  });

  it('takes the parameters that other programs have saved', async () => {
    const saved_report_id = await save('portfolio', { type: 'Application' });
    const { id } = await member.create(
      base,
      weekly({ saved_report_id, format: 'csv' }, { destination: { kind: 'disk' } }),
    );
    expect((await run(id)).status).toBe('succeeded');
  });

  it('is refused for what cannot be delivered', async () => {
    const query = await save('query', configs.query);
    const board = await save('dashboard', configs.dashboard);
    const empty = await save('dashboard', { tiles: [] });
    const wrong = await save('cost', page('/reports/cost', { type: 'Application', fiscal_year: 'never' }));
    const request = { format: 'csv' };
    const asked = (report: object, more: object = {}) => member.post(base, weekly(report, more));
    const csv = { saved_report_id: query, format: 'csv' };
    await expectInvalid(asked(csv, { request }), 'request required');
    await expectInvalid(asked(csv, { report: undefined }), 'request required');
    await expectInvalid(asked(csv, { incremental: true }), 'incremental not_offered');
    await expectInvalid(
      asked({ saved_report_id: board, format: 'csv', table: 'Nothing' }),
      'report.table not_offered',
    );
    await expectInvalid(
      asked({ saved_report_id: empty, format: 'pdf' }),
      'report.saved_report_id not_offered',
    );
    await expectInvalid(asked({ ...csv, format: 'pdf', table: 'x' }), 'report.table not_offered');
    await expectInvalid(
      asked(csv, { destination: { kind: 'mail', recipients: ['someone@elsewhere.example'] } }),
      'destination.recipients.0 refused_address',
    );
    expect(wrong).toBeTruthy();
    const foreign = await save('cost', configs.cost, {}, admin);
    await expectProblem(asked({ saved_report_id: foreign, format: 'pdf' }), 403);
  });
});

describe('the owner of a schedule of a report', () => {
  it('gets nothing more without the right to it, and the schedule says why', async () => {
    const rights = {
      'inventory.view': true,
      'inventory.export': true,
      'reports.ea_dashboard': true,
      'saved_reports.create': true,
    };
    await db('roles').insert({ key: 'reader', label: 'Reader', permissions: JSON.stringify(rights) });
    await db.raw("select record_events('[]', '{roles}')");
    const reader = await t.as('reader');
    const saved_report_id = await save('query', configs.query, {}, reader);
    const { id } = await reader.create(
      base,
      weekly(
        { saved_report_id, format: 'csv' },
        { destination: { kind: 'mail', recipients: [reader.email] } },
      ),
    );
    await run(id, 'succeeded', reader);
    await mailTo(reader.email);
    smtp.mails.length = 0;
    const { 'reports.ea_dashboard': _, ...less } = rights;
    await db('roles')
      .where({ key: 'reader' })
      .update({ permissions: JSON.stringify(less) });
    const { error } = await run(id, 'failed', reader);
    expect(error.code).toBe('forbidden');
    expect((await reader.get(`${base}/${id}`)).body).toMatchObject({
      status: 'paused',
      paused_reason: error.message,
    });
    const told = await until('the notification', async () =>
      db('notifications').where({ user_id: reader.userId, type: 'extraction_failed' }).first(),
    );
    expect(told).toMatchObject({ title: 'The extraction Weekly is paused', link: '/reports?tab=saved' });
    expect(smtp.mails.filter(({ headers }) => headers.subject === 'Estate: Weekly')).toEqual([]);
  });

  it('looks at what somebody else has changed before it is sent', async () => {
    const editor = await t.as('member', 'editor');
    const shared = { visibility: 'shared', shared_with: [{ user_id: editor.userId, can_edit: true }] };
    const saved_report_id = await save('query', configs.query, shared);
    const { id } = await member.create(base, weekly({ saved_report_id, format: 'csv' }));
    await run(id);
    const other = { ...q, dimensions: [{ field: 'attributes.costTotalAnnual' }] };
    await ok(
      editor.patch(`/api/v1/saved-reports/${saved_report_id}`, { config: page('/query', { q: other }) }),
    );
    smtp.mails.length = 0;
    // also if the editor may no longer change it
    await ok(member.patch(`/api/v1/saved-reports/${saved_report_id}`, { shared_with: [] }));
    const { error } = await run(id, 'failed');
    expect(error.message).toContain('was changed, perhaps by somebody else');
    expect((await member.get(`${base}/${id}`)).body.status).toBe('paused');
    await ok(member.patch(`${base}/${id}`, { status: 'active' }));
    expect((await run(id)).status).toBe('succeeded');
    await mailTo(member.email);
  });

  it('follows a rename and its undo by others, which change nothing but names', async () => {
    const fields = [{ key: 'size', label: 'Size', type: 'number' }];
    const key = 'Sized';
    await admin.create('/api/v1/metamodel/types', {
      ...{ key, label: key },
      fields_schema: [{ section: 'Facts', fields }],
    });
    const sized = { from: [key], dimensions: [{ field: 'attributes.size' }], measures: [{ fn: 'count' }] };
    const saved_report_id = await save('query', page('/query', { q: sized }));
    const { id } = await member.create(base, weekly({ saved_report_id, format: 'csv' }));
    const renamed = await admin.post(`/api/v1/metamodel/types/${key}/fields/size/rename`, {
      key: 'extent',
      removal: new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10),
    });
    expect((await run(id)).status).toBe('succeeded');
    const other = await t.as('admin', 'another');
    await other.undo(String(renamed.headers['x-mutation-batch']));
    const { body } = await member.get(`/api/v1/saved-reports/${saved_report_id}`);
    expect(body.config.search.q.dimensions).toEqual([{ field: 'attributes.size' }]);
    expect((await run(id)).status).toBe('succeeded');
  });

  it('delivers what the saved report is, until it is gone', async () => {
    const saved_report_id = await save('query', configs.query);
    const { id } = await member.create(base, weekly({ saved_report_id, format: 'csv' }));
    await ok(
      member.patch(`/api/v1/saved-reports/${saved_report_id}`, {
        config: page('/query', { q: { ...q, measures: [{ fn: 'count', as: 'apps' }] } }),
      }),
    );
    await run(id);
    await mailTo(member.email, 'apps');
    await ok(member.delete(`/api/v1/saved-reports/${saved_report_id}`), 204);
    expect((await run(id, 'failed')).error).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('no longer exists'),
    });
  });

  it('names the recipients that are no longer users', async () => {
    const leaver = await t.as('member', 'leaver');
    const saved_report_id = await save('query', configs.query);
    const recipients = [member.email, leaver.email];
    const { id } = await member.create(
      base,
      weekly({ saved_report_id, format: 'csv' }, { destination: { kind: 'mail', recipients } }),
    );
    await db('users').where({ id: leaver.userId }).update({ is_active: false });
    const made = await run(id);
    expect(made.error.message).toContain(`Not sent to ${leaver.email}`);
    await mailTo(member.email);
    expect(smtp.mails.flatMap(({ to }) => to)).not.toContain(leaver.email);
  });
});
