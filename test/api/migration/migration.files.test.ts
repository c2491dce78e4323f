import { expectInvalid, expectProblem, ok, pluck } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { workbook } from '../../support/workbook.ts';
import { openMigrations, url } from './migration.fixture.ts';

const { t, admin, actions, applied, counts, errorsOf, mapped, records, staged, upload } =
  await openMigrations();

it('any table is migrated by what its columns are mapped to, without ids by name and place', async () => {
  const before = await counts();
  const sheets = {
    'Server list': [
      ['Hostname', 'Vendor', 'Runs', 'Kind', 'Bought'],
      ['db-1', 'Acme', 'Ledger', 'Hardware', new Date(Date.UTC(2021, 5, 1))],
      ['db-2', 'Acme', 'Ledger;Ghost', 'Hardware', null],
    ],
    Applications: [
      ['Name', 'Parent'],
      ['Ledger'],
      ['Ledger Web', 'Ledger'],
      ['Ledger Web Cache', 'Ledger Web'],
    ],
    Providers: [['Name'], ['Acme']],
  };
  const made = await staged(await workbook(sheets), { source_key: 'sheet', fileName: 'all.xlsx' });
  expect((await actions(made.id, 'metamodel_type'))['Server list']).toMatch(/^conflict/);
  await mapped(made.id, {
    'Server list': {
      $type: 'ITComponent',
      Hostname: 'name',
      Kind: 'subtype',
      Bought: 'lifecycle.active',
      Vendor: 'relations.relProviderToITC.reverse',
      Runs: 'relations.relAppToITC.reverse',
    },
  });
  expect(await actions(made.id)).toEqual({
    'db-1': 'create',
    'db-2': 'create',
    Ledger: 'create',
    'Ledger Web': 'create',
    'Ledger Web Cache': 'create',
    Acme: 'create',
  });
  await applied(made.id);
  const { rows } = await t.services.db.raw(`
       select s.name as source, t.name as target, t.subtype from relations r join cards s on s.id = r.source_id
       join cards t on t.id = r.target_id where t.name like 'db-%' order by 1, 2`);
  const lines = rows.map(({ source, target }: never) => `${source} ${target}`);
  expect(lines).toEqual(['Acme db-1', 'Acme db-2', 'Ledger db-1', 'Ledger db-2']);
  expect(rows[0].subtype).toBe('hardware');
  const cache = await t.services
    .db('cards as c')
    .join('cards as p', 'p.id', 'c.parent_id')
    .where('c.name', 'Ledger Web Cache')
    .first('p.name as parent');
  expect(cache.parent).toBe('Ledger Web');

  await admin.undo((await admin.get(`${url}/${made.id}`)).body.job_id);
  expect(await counts()).toEqual(before);
});

it('any table may be a CSV file, whose apostrophes in front of formulas are taken off', async () => {
  const made = await staged("id;Name;Gruppe\nCSV-1;'=1+1;x\n", {
    source_key: 'sheet',
    fileName: 'Platforms.csv',
  });
  expect(pluck(await records(made.id), 'display_name', 'action')).toEqual([['=1+1', 'create']]);
  expect(await actions(made.id, 'metamodel_field')).toMatchObject({
    Gruppe: expect.stringMatching(/^conflict/),
  });
  expect((await errorsOf(made.id)).at(-1)).toContain('Gruppe');
  const { job_id } = await applied(made.id);
  const { outcome, counts } = (await admin.get(`/api/v1/jobs/${job_id}`)).body;
  expect({ outcome, counts }).toMatchObject({
    outcome: 'partial',
    counts: { applied: 1, failed: 0, left_out: 1 },
  });
});

describe('an upload', () => {
  it('is refused where it is none', async () => {
    await expectInvalid(upload('x', { source_key: 'other' }), 'source_key unknown_source');
    await expectProblem(upload('x', { fileName: 'a.csv' }), 415, 'unsupported_media_type');
    await expectInvalid(
      upload('x', { name: ' ', include_archived: 'maybe' }),
      'name required',
      'include_archived wrong_type',
    );
    await expectInvalid(upload('', {}), 'file empty');
    await expectInvalid(upload('x', { more: { extra: '1' } }), 'extra unknown_field');
    await expectProblem(admin.post(`${url}/upload`, {}), 415);
  });

  it('that cannot be read fails with the reason, and can be deleted', async () => {
    const { body } = await upload('no workbook at all');
    await untilStatus(t.services, body.job_id, 'failed');
    const failed = (await admin.get(`${url}/${body.id}`)).body;
    expect(failed.status).toBe('failed');
    expect(failed.error_message).toMatch(/^The file cannot be read: /);
    expect((await admin.put(`${url}/${body.id}/field-mappings`, { field_mappings: {} })).body.code).toBe(
      'wrong_state',
    );
    await ok(admin.delete(`${url}/${body.id}`), 204);
  });

  it.each([
    [
      Buffer.from('id;name\nA-1;Tea\nA-2;K\xe4se\n', 'latin1'),
      /line 3 contains bytes that are not UTF-8\. Save .+UTF-8/,
    ],
    [Buffer.from('id;N\xe4me\nA-1;Tea\n', 'latin1'), /line 1 contains bytes that are not UTF-8/],
    [
      Buffer.concat([Buffer.from('id;name\n'), Buffer.from('\ufeffA;K\xe4se\n', 'utf16le')]),
      /line 2 contains bytes/,
    ],
    [Buffer.from('id;name\nA;B\n', 'utf16le'), /line 1 contains a NUL/],
    [Buffer.from('\ufeffid;name\nA;B\n', 'utf16le'), /UTF-16/],
  ])('of a table that is not UTF-8 fails and names the line: %#', async (content, message) => {
    const { body } = await upload(content, { source_key: 'sheet', fileName: 'Applications.csv' });
    await untilStatus(t.services, body.job_id, 'failed');
    const failed = (await admin.get(`${url}/${body.id}`)).body;
    expect(failed).toMatchObject({ status: 'failed', error_message: expect.stringMatching(message) });
    expect(await records(body.id)).toEqual([]);
  });

  it('keeps a replacement character that the file itself holds', async () => {
    const made = await staged('\ufeffid;name\nR-1;K\ufffdse\n', {
      source_key: 'sheet',
      fileName: 'Platforms.csv',
    });
    expect(await actions(made.id)).toEqual({ 'K\ufffdse': 'create' });
  });

  it('is listed, by source too', async () => {
    const { body } = await admin.get(`${url}?source_type=sheet&fields=source_type&sort_by=name`);
    expect(body.items.length).toBeGreaterThan(0);
    expect(new Set(pluck(body.items, 'source_type'))).toEqual(new Set(['sheet']));
    expect((await admin.get(`${url}/sources`)).body.items).toEqual([
      { key: 'leanix', label: 'LeanIX snapshot', accepted_extensions: ['.xlsx'] },
      { key: 'sheet', label: 'Workbook or table', accepted_extensions: ['.xlsx', '.csv', '.tsv'] },
    ]);
  });
});
