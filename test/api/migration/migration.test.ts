import { query } from '../../../platform/database.ts';
import { snapshot } from '../../domain/exchange/migration/workbook.ts';
import { expectProblem, ok, pluck, type TestResponse } from '../../support/harness.ts';
import { workbook } from '../../support/workbook.ts';
import { openMigrations, recordsAs, url } from './migration.fixture.ts';

const { t, admin, actions, applied, counts, errorsOf, records, settled, staged, upload } =
  await openMigrations();
await t.services.db('users').insert({ email: 'ann@estate.example', display_name: 'Ann', role: 'member' });

let id: string;

it('is uploaded, read and shown with what would become of each row', async () => {
  const made = await staged(await workbook(snapshot));
  id = made.id;
  expect(made).toMatchObject({
    name: 'Move',
    source_type: 'leanix',
    status: 'previewed',
    snapshot_version: '4.2',
    field_mappings: null,
    error_message: null,
    stats: { records: { card: { create: 5, conflict: 5, skip: 1 } } },
  });
  expect(await actions(id)).toEqual({
    Suite: 'create',
    Payroll: 'create',
    Old: 'skip: is archived in the source',
    Lost: expect.stringMatching(/^conflict: parent: “No such parent”: there is no such Application/),
    'Suite again': 'conflict: external_id: row 3 of Application has the same key',
    'Ring A': 'conflict: parent_external_id: would lie below itself',
    'Ring B': 'conflict: parent_external_id: would lie below itself',
    'app-7': 'conflict: name: is missing',
    PostgreSQL: 'create',
    '@cmd': 'create',
    Hire: 'create',
  });
});

it('shows differences, values that stand for nothing, and what is not mapped with its number', async () => {
  const [suite, payroll] = await records(id);
  expect(suite).toMatchObject({
    sheet: 'Application',
    row: 3,
    left_out: [],
    diff: {
      name: { old: null, new: 'Suite' },
      description: { old: null, new: '=SUM(1;2)' },
      'lifecycle.active': { old: null, new: '2020-01-31' },
      'attributes.businessCriticality': { old: null, new: 'missionCritical' },
      'attributes.costTotalAnnual': { old: null, new: 1200.5 },
    },
  });
  expect(payroll.diff.description.new).toBe('Pays people');
  expect(pluck(payroll.left_out, 'field', 'code')).toEqual(
    expect.arrayContaining([
      ['lifecycle:active', 'bad_date'],
      ['businessCriticality', 'unknown_option'],
      ['costTotalAnnual', 'wrong_type'],
    ]),
  );
  // no message contains values of costs, not even the reason why one is invalid
  expect(JSON.stringify(payroll.left_out)).not.toContain('much');
  expect(await actions(id, 'metamodel_type')).toMatchObject({
    Application: 'skip',
    Process: 'skip',
    Widget: 'conflict: is no known card type, which leaves out 1 row: map it or leave it out',
  });
  expect(await actions(id, 'metamodel_field')).toMatchObject({
    customScore: 'conflict: is not mapped, which leaves out 1 value: map it or leave it out',
    category: expect.stringMatching(/^conflict: 1 value left out: unknown option/),
  });
  expect(await actions(id, 'relation')).toEqual({
    'Suite → it-1': 'create',
    'Suite → PostgreSQL': 'skip: another row has the same content',
    'Hire → Suite': 'create',
    'Payroll → it-1': 'create',
    'Payroll → Nowhere': expect.stringMatching(/^conflict: relApplicationToITComponent: “Nowhere”/),
    'app-1 → PostgreSQL': 'skip: another row has the same content',
  });
  expect(await actions(id, 'metamodel_relation_type')).toMatchObject({
    relToRequires: expect.stringMatching(/^conflict: is not mapped/),
  });
  expect(await actions(id, 'tag')).toEqual({ One: 'create', Loose: 'create', North: 'create' });
  expect(await actions(id, 'user')).toEqual({
    'ann@estate.example': 'skip',
    'nobody@estate.example': 'conflict: there is no user with this address',
  });
  expect(await counts()).toEqual({ cards: 0, relations: 0, tags: 0 });
});

it('is paged in the house’s ways and in the contract’s', async () => {
  const at = (query: string) => admin.get(`${url}/${id}/preview?${query}`);
  const { body } = await at('offset=4&limit=2');
  expect(body).toMatchObject({ total: 11, page: 3, page_size: 2, offset: 4, limit: 2 });
  expect(pluck(body.items, 'display_name')).toEqual(['Suite again', 'Ring A']);
  expect((await at('offset=3&limit=2')).body.errors[0]).toMatchObject({
    field: 'offset',
    code: 'bad_offset',
  });
  await expectProblem(at('limit=1000'), 422);
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: TestResponse['body'] = (
      await at(`cursor=${encodeURIComponent(cursor)}&page_size=4&action=conflict&fields=source_id`)
    ).body;
    seen.push(...pluck(page.items, 'source_id'));
    cursor = page.next_cursor;
  }
  expect(seen).toEqual(['app-4', 'app-1', 'app-5', 'app-6', 'app-7']);
  expect((await at('card_type_key=BusinessProcess')).body.total).toBe(1);
});

it('shows costs in its preview to those alone who may see them', async () => {
  const mover = await t.holding('admin.migrate');
  const [suite] = await recordsAs(mover, id);
  expect(suite.diff.name).toBeDefined();
  expect(suite.diff['attributes.costTotalAnnual']).toBeUndefined();
  const refused = await mover.post(`${url}/${id}/apply`);
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('inventory.create');
});

it('is mapped otherwise, and its records are made anew', async () => {
  const { body } = await admin.get(`${url}/${id}/field-mappings`);
  const block = (name: string) => body.blocks.find(({ native_type }: never) => native_type === name);
  expect(block('Process')).toMatchObject({
    target_card_type: 'BusinessProcess',
    target_type_label: 'Business Process',
  });
  expect(block('Widget').target_card_type).toBe('');
  expect(
    block('Application').source_fields.find(
      ({ source_field_key }: never) => source_field_key === 'customScore',
    ),
  ).toEqual({
    source_field_key: 'customScore',
    label: null,
    native_data_type: 'number',
    field_type: null,
    target_card_type: 'Application',
    mapped_to: null,
    values: 1,
  });
  expect(body.auto_mapped_columns).toContainEqual({ source_column: 'id', card_target: 'external_id' });

  const put = (field_mappings: object) => admin.put(`${url}/${id}/field-mappings`, { field_mappings });
  const wrong = await put({
    Nothing: {},
    Widget: { $type: 'NoType' },
    Application: { noColumn: 'name', customScore: 'noField', name: 'alias', displayName: 'alias' },
  });
  expect(
    wrong.body.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`),
  ).toEqual([
    'field_mappings.Nothing unknown_type',
    'field_mappings.Widget.$type unknown_type',
    'field_mappings.Application.noColumn unknown_column',
    'field_mappings.Application.customScore unknown_target',
    'field_mappings.Application.displayName duplicate_target',
  ]);
  const saved = await ok(
    put({
      Application: { customScore: 'numberOfUsers' },
      ITComponent: { relToRequires: '' },
      Widget: { $type: 'Platform' },
    }),
  );
  expect(saved.status).toBe('parsed');
  expect(saved.field_mappings.Application).toEqual({ customScore: 'attributes.numberOfUsers' });
  expect(await settled(id)).toMatchObject({ status: 'previewed', metamodel_diff: { unmapped_columns: [] } });
  expect((await actions(id))['Something else']).toBe('create');
  expect((await records(id))[0].diff['attributes.numberOfUsers']).toEqual({ old: null, new: 7 });
  expect(await actions(id, 'metamodel_relation_type')).toEqual({
    relToRequires: 'skip: left out on request: 1 value',
  });
});

it('is applied once, with everything that fits, as a batch that can be undone', async () => {
  const before = await counts();
  const done = await applied(id);
  expect(done).toMatchObject({
    status: 'applied',
    stats: { records: { card: { applied: 6 }, relation: { applied: 3 } } },
  });
  expect(done.applied_at).not.toBeNull();
  const card = async (key: string) => {
    const { body } = await admin.get(`/api/v1/cards?filter=${encodeURIComponent(`external_id = "${key}"`)}`);
    return (await admin.get(`/api/v1/cards/${body.items[0].id}`)).body;
  };
  const [suite, payroll, component] = [await card('app-1'), await card('app-2'), await card('it-2')];
  expect(suite).toMatchObject({
    name: 'Suite',
    description: '=SUM(1;2)',
    lifecycle: { active: '2020-01-31' },
    attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 1200.5, numberOfUsers: 7 },
  });
  expect(payroll).toMatchObject({ parent_id: suite.id, lifecycle: { plan: '2019-01-01' } });
  expect(component).toMatchObject({ name: '@cmd', subtype: null });
  const tags = await query(t.services.db).rows`
       select g.name || '/' || t.name as tag from card_tags k join tags t on t.id = k.tag_id
       join tag_groups g on g.id = t.tag_group_id where k.card_id = ${suite.id} order by 1`;
  expect(pluck(tags, 'tag')).toEqual(['Other tags/Loose', 'Phase/One', 'Region/North']);
  expect(await t.services.db('stakeholders').where({ card_id: suite.id }).pluck('role')).toEqual([
    'responsible',
  ]);
  expect((await records(id))[0]).toMatchObject({ status: 'applied', target_id: suite.id });

  const types = await t.services
    .db('events')
    .where({ batch_id: done.job_id })
    .distinct('event_type')
    .pluck('event_type');
  expect(types.sort()).toEqual(
    [
      'card.created',
      'migration.applied',
      'relation.created',
      'stakeholder.added',
      'tag.added',
      'tag.created',
      'tag_group.created',
    ].sort(),
  );
  await ok(admin.post(`/api/v1/mutation-batches/${done.job_id}/rollback`, { dry_run: true }));
  expect(await counts()).not.toEqual(before);
});

it('reports what could not be imported, with nothing in it that a spreadsheet would calculate', async () => {
  const lines = await errorsOf(id);
  expect(lines[0]).toBe('sheet,row,entity_kind,source_type,source_id,name,column,reason');
  const about = (text: string) => lines.filter((line) => line.includes(text));
  expect(about('app-4')[0]).toMatch(/^Application,6,card,Application,app-4,Lost,,"parent: /);
  expect(about(',Payroll,lifecycle:active,')[0]).toContain('left out: “2020-02-30” is no date');
  expect(about(",'@cmd,")[0]).toContain('category');
  expect(about('Payroll → Nowhere')).toHaveLength(1);
});

it('is refused a second time, and what cannot be done to it now', async () => {
  const again = await upload(await workbook(snapshot).then(async () => await storedFile()));
  expect([again.status, again.body.code, again.body.migration_id]).toEqual([409, 'conflict', id]);
  for (const act of [
    () => admin.post(`${url}/${id}/apply`),
    () => admin.put(`${url}/${id}/field-mappings`, { field_mappings: {} }),
  ]) {
    const { status, body } = await act();
    expect([status, body.code, body.migration_status]).toEqual([409, 'wrong_state', 'applied']);
  }
  async function storedFile(): Promise<Buffer> {
    const { file_id } = await t.services.db('migrations').where({ id }).first('file_id');
    return Buffer.concat(await (await t.services.blobs.get(file_id)).toArray());
  }
});

it('changes nothing when the same is migrated again, and only what a newer one says otherwise', async () => {
  const before = await counts();
  await ok(admin.delete(`${url}/${id}`), 204);
  await expectProblem(admin.get(`${url}/${id}`), 404);
  expect(await counts()).toEqual(before);

  const same = await staged(await workbook(snapshot));
  expect(same.stats.records.card).toEqual({ skip: 6, conflict: 5 });
  expect(same.stats.records.relation).toEqual({ skip: 5, conflict: 1 });
  const events = async () =>
    Number((await t.services.db('events').where('event_type', 'like', 'card.%').count())[0]!.count);
  const eventsBefore = await events();
  await applied(same.id);
  expect(await counts()).toEqual(before);
  expect(await events()).toBe(eventsBefore);

  const rows = structuredClone(snapshot.Process!);
  rows[1]![2] = 'Hire people';
  const newer = await staged(await workbook({ ...snapshot, Process: rows }));
  expect(newer.stats.records.card).toMatchObject({ update: 1, skip: 5 });
  const [hire] = await records(newer.id, 'card', '&action=update');
  expect(hire.diff).toEqual({ name: { old: 'Hire', new: 'Hire people' } });
  await applied(newer.id);
  expect(await counts()).toEqual(before);
  expect(await t.services.db('cards').where({ external_id: 'pr-1' }).pluck('name')).toEqual(['Hire people']);
}, 60_000);
