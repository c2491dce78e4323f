// @redis
import { startWorkers } from '../../../workers/runtime.ts';
import type { TestClient, TestResponse } from '../../support/harness.ts';
import { closeAfterAll, expectProblem, openApp } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { workbook, XLSX } from '../../support/workbook.ts';

const { t, db, member, viewer } = await openApp(['member', 'viewer']);
closeAfterAll(await startWorkers(t.services));

const send = (
  query: string,
  payload: string | Buffer,
  contentType = 'text/csv',
  { client = member, headers = {} }: { client?: TestClient; headers?: Record<string, string> } = {},
): Promise<TestResponse> =>
  client.request({
    method: 'POST',
    url: `/api/v1/imports?${query}`,
    headers: { 'content-type': contentType, ...headers },
    payload,
  });

const form = (parts: { name: string; filename?: string; type?: string; content: string }[]) => {
  const body = parts.map(
    ({ name, filename, type, content }) =>
      `--line\r\nContent-Disposition: form-data; name="${name}"${filename ? `; filename="${filename}"` : ''}\r\n${
        type ? `Content-Type: ${type}\r\n` : ''
      }\r\n${content}\r\n`,
  );
  return [`${body.join('')}--line--\r\n`, 'multipart/form-data; boundary=line'] as const;
};

const jobs = async () => Number((await db('jobs').where({ kind: 'import' }).count())[0]!.count);

// first, while no job writes files
describe('a sheet of a workbook', () => {
  const read = (payload: Buffer, query = '', client = member) =>
    client.request({
      method: 'POST',
      url: `/api/v1/imports/sheets?${query}`,
      headers: { 'content-type': XLSX },
      payload,
    });
  const book = () =>
    workbook({
      Relations: [['type'], ['relAppToITC']],
      Applications: [
        ['name', 'begin', 'users'],
        ['Ledger', new Date('2024-02-29T00:00Z'), { formula: '1+1' }],
        [],
        ['Payroll', null, 1.5],
      ],
    });

  it('is read as imports read it, the first of the kind or a chosen one, and nothing is kept', async () => {
    const kept = async () => {
      const keys: string[] = [];
      for await (const key of t.services.blobs.olderThan(new Date(Date.now() + 60_000))) keys.push(key);
      return keys;
    };
    const before = await kept();
    const { status, body } = await read(await book());
    expect([status, body]).toEqual([
      200,
      {
        sheets: ['Relations', 'Applications'],
        sheet: 'Applications',
        rows: [
          { row: 1, cells: ['name', 'begin', 'users'] },
          { row: 2, cells: ['Ledger', '2024-02-29'], uncalculated: [2] },
          { row: 4, cells: ['Payroll', '', '1.5'] },
        ],
      },
    ]);
    expect((await read(await book(), 'sheet=Relations')).body.rows).toHaveLength(2);
    expect((await read(await book(), 'kind=relations')).body.sheet).toBe('Relations');
    expect(await kept()).toEqual(before);
  });

  it('is refused if it is missing, unreadable or not to be imported', async () => {
    expectProblem(await read(await book(), 'sheet=Nowhere'), 422, 'validation_failed');
    expectProblem(await read(Buffer.from('x')), 422, 'validation_failed');
    expectProblem(await read(await book(), '', viewer), 403, 'forbidden');
  });
});

describe('an upload', () => {
  it('is imported as a job, whose report can be downloaded', async () => {
    const csv = 'type,external_id,name\nApplication,A-1,One\nApplication,A-1,Two\n';
    const answer = await send('kind=cards&mode=create', csv);
    expect(answer.status).toBe(202);
    const { job_id } = answer.body;
    expect(answer.body).toEqual({ job_id, status: 'queued', links: { self: `/api/v1/jobs/${job_id}` } });
    expect(answer.headers.location).toBe(`/api/v1/jobs/${job_id}`);
    expect(answer.headers['x-position']).toBeDefined();
    await untilStatus(t.services, job_id, 'succeeded');
    expect((await member.get(`/api/v1/jobs/${job_id}`)).body).toMatchObject({
      kind: 'import',
      status: 'succeeded',
      progress: 1,
      counts: { total: 2, created: 1, updated: 0, unchanged: 0, failed: 1 },
      result: { kind: 'cards', mode: 'create', dry_run: false, atomic: false, written: true },
    });
    const report = await member.get(`/api/v1/jobs/${job_id}/result`);
    expect(report.headers['content-type']).toBe('application/x-ndjson');
    expect(report.headers['content-disposition']).toContain('import-report-');
    expect(JSON.parse(report.text)).toEqual({
      line: 3,
      external_id: 'A-1',
      outcome: 'failed',
      errors: [
        { field: 'external_id', code: 'duplicate_in_file', message: 'line 2 has the same key', value: 'A-1' },
      ],
    });
    const [event] = await db('events').where({ event_type: 'import.started' });
    expect(event).toMatchObject({
      user_id: member.userId,
      scope: 'audit',
      data: { import_job_id: job_id, kind: 'cards', mode: 'create', size: csv.length },
    });
  });

  it('comes as NDJSON, or in a form', async () => {
    const line = (id: string) => `${JSON.stringify({ type: 'Provider', external_id: id, name: id })}\n`;
    const csv = 'type\texternal_id\tname\nProvider\tB-3\tB-3\n';
    const answers = [
      await send('kind=cards', line('B-1'), 'application/x-ndjson'),
      await send('kind=cards', ...form([{ name: 'file', filename: 'x.jsonl', content: line('B-2') }])),
      await send('separator=tab', ...form([{ name: 'file', filename: 'x', type: 'text/csv', content: csv }])),
      await send('separator=%09', csv.replaceAll('B-3', 'B-4'), 'text/csv; charset="UTF-8"'),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(202);
      expect((await untilStatus(t.services, body.job_id, 'succeeded')).counts).toMatchObject({ created: 1 });
    }
  });

  it('is sent once, however often its key is', async () => {
    const headers = { 'idempotency-key': 'import-1' };
    const csv = 'type,name\nProvider,Once\n';
    const first = await send('kind=cards', csv, 'text/csv', { headers });
    const before = await jobs();
    const again = await send('kind=cards', csv, 'text/csv', { headers });
    expect([again.status, again.body]).toEqual([202, first.body]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await jobs()).toBe(before);
    await expectProblem(
      send('kind=cards', `${csv}Provider,More\n`, 'text/csv', { headers }),
      409,
      'idempotency_key_reused',
    );
  });
});

describe('refused before there is a job', () => {
  const refused = async (answer: Promise<TestResponse>, status: number, code: string) => {
    const before = await jobs();
    const { status: seen, body } = await answer;
    expect([seen, body.code]).toEqual([status, code]);
    expect(await jobs()).toBe(before);
    return body;
  };

  it('are files whose header does not fit, naming each column', async () => {
    const columns = await refused(
      send('kind=cards', 'type,name,nmae,name,attributes.no\n'),
      422,
      'validation_failed',
    );
    const lines = columns.errors.map(({ field, code }: Record<string, string>) => `${field} ${code}`);
    expect(lines).toEqual(['nmae unknown_column', 'attributes.no unknown_column', 'name repeated_column']);
    await refused(send('kind=cards', ''), 422, 'validation_failed');
    await refused(send('kind=cards&separator=semicolon', 'type,name\n'), 422, 'validation_failed');
    await refused(send('kind=relations', 'type,name\n'), 422, 'validation_failed');
  });

  it('are options and media types that there are not', async () => {
    const csv = 'type,name\nProvider,x\n';
    for (const query of [
      'kind=people',
      'mode=replace',
      'dry_run=maybe',
      'nope=1',
      'empty=drop',
      'report=some',
    ])
      await refused(send(query, csv), 422, 'validation_failed');
    await refused(send('kind=cards', '{}', 'application/json'), 415, 'unsupported_media_type');
    await refused(send('kind=cards', csv, 'text/csv; charset=latin1'), 415, 'unsupported_media_type');
    const part = { name: 'file', filename: 'x.csv', content: csv };
    await refused(
      send('kind=cards', ...form([{ ...part, filename: 'x.pdf' }])),
      415,
      'unsupported_media_type',
    );
    await refused(send('kind=cards', ...form([{ ...part, name: 'other' }])), 422, 'validation_failed');
    await refused(send('kind=cards', ...form([part, part])), 422, 'validation_failed');
    await refused(send('kind=cards', ...form([])), 422, 'validation_failed');
  });

  it('are callers without the right', async () => {
    const csv = 'type,name\nProvider,x\n';
    const body = await refused(send('kind=cards', csv, 'text/csv', { client: viewer }), 403, 'forbidden');
    expect(body.permission).toBe('inventory.create');
    const creator = await t.holding('inventory.create');
    for (const [query, permission] of [
      ['kind=cards&mode=upsert', 'inventory.edit'],
      ['kind=relations', 'relations.manage'],
    ]) {
      const refusal = await refused(send(query!, csv, 'text/csv', { client: creator }), 403, 'forbidden');
      expect(refusal.permission).toBe(permission);
    }
    await refused(send('kind=cards', csv, 'text/csv', { client: t.anonymous }), 401, 'unauthorized');
  });
});
