// @redis

import { openImports } from '../../../support/imports.ts';
import expectedFaults from './cards.faults.json' with { type: 'json' };

const { imports, db } = await openImports();
const [region] = await db('tag_groups').insert({ name: 'Region' }).returning('id');
const [phase] = await db('tag_groups').insert({ name: 'Phase', mode: 'single' }).returning('id');
await db('tag_groups').insert({ name: 'Only', restrict_to_types: JSON.stringify(['Provider']) });
await db('tags').insert([
  { tag_group_id: region.id, name: 'North' },
  { tag_group_id: region.id, name: 'South/West' },
  { tag_group_id: phase.id, name: 'One' },
  { tag_group_id: phase.id, name: 'Two' },
]);
await db.raw(`insert into tags (tag_group_id, name) select id, 'Tag' from tag_groups where name = 'Only'`);
await db('users').insert([
  { email: 'ann@estate.example', display_name: 'Ann', role: 'member' },
  { email: 'bob@estate.example', display_name: 'Bob', role: 'member' },
]);

const app = (external_id: string, more: object = {}) => ({
  type: 'Application',
  external_id,
  name: external_id,
  ...more,
});

describe('a file of trouble', () => {
  const rows = [
    'type;subtype;external_id;parent_external_id;name;description;lifecycle.active;lifecycle.endOfLife;attributes.businessCriticality;attributes.costTotalAnnual;attributes.commercialApplication',
    'Application;businessApplication;T-1;;First;;2021-03-01;2030-12-31;missionCritical;1200.50;true',
    'Application;;T-2;;"With ""quotes""; and more";"two',
    'lines";;;;;',
    'Application;;T-3;;"\'=SUM(1)";\'+1;;;;;',
    'Application;;T-4;;-Minus;;;;;;',
    "Application;;T-5;;'Tis fine;;;;;;",
    `Application;;T-6;;${'n'.repeat(501)};;;;;;`,
    'NoType;;T-7;;No type;;;;;;',
    'Application;noSubtype;T-8;;No subtype;;;;;;',
    'Application;;T-9;;Option;;;;huge;;',
    'Application;;T-10;;Date;;2023-02-30;;;;',
    'Application;;T-11;;Number;;;;;1,5;',
    'Application;;T-12;;Boolean;;;;;;maybe',
    'Application;;T-1;;Again;;;;;;',
    'Application;;T-13;NONE;No parent;;;;;;',
    'BusinessCapability;;T-14;T-15;Child first;;;;;;',
    'BusinessCapability;;T-15;;Parent later;;;;;;',
    'BusinessCapability;;T-16;T-17;Loop;;;;;;',
    'BusinessCapability;;T-17;T-16;Pool;;;;;;',
    'Application;;T-18;;  fIRST ;;;;;;',
    'Application;;T-19;;;;;;;;',
    'Application;;;;Keyless;;;;;;',
    'Application;;T-20;;Late;;2030-01-01;2020-01-01;;;',
    'Application;;T-21;;Cells;',
    'Application;;T-22;T-6;Below a row that fails;;;;;;',
    'Application;;T-23;;\u200f\u0627\u0644 \u6f22;;;;;;',
  ];
  const file = `\ufeff${rows.join('\r\n')}\r\n`;

  it('is told row by row, and good rows are written', async () => {
    const { job, faults } = await imports.run(file);
    expect(job.counts).toEqual({ total: 25, created: 9, updated: 0, unchanged: 0, failed: 16 });
    expect(faults).toEqual(expectedFaults);
    const first = await imports.card('T-1');
    expect(first).toMatchObject({
      name: 'First',
      lifecycle: { active: '2021-03-01', endOfLife: '2030-12-31' },
      attributes: {
        businessCriticality: 'missionCritical',
        costTotalAnnual: 1200.5,
        commercialApplication: true,
      },
      status: 'ACTIVE',
      approval_status: 'DRAFT',
    });
    expect(Number(first.data_quality)).toBeGreaterThan(0);
    const card = await imports.card('T-2');
    expect(card).toMatchObject({ name: 'With "quotes"; and more', description: 'two\r\nlines' });
    expect(await imports.card('T-3')).toMatchObject({ name: '=SUM(1)', description: '+1' });
    expect(await imports.card('T-4')).toMatchObject({ name: '-Minus' });
    expect(await imports.card('T-5')).toMatchObject({ name: "'Tis fine" });
    expect(await imports.card('T-23')).toMatchObject({ name: '\u200f\u0627\u0644 \u6f22' });
    const parent = await imports.card('T-15');
    expect(parent.attributes).toMatchObject({ capabilityLevel: 'L1' });
    const row = await imports.card('T-14');
    expect(row).toMatchObject({ parent_id: parent.id, attributes: { capabilityLevel: 'L2' } });
  });

  it('names the other row or card of a clash', async () => {
    const { report } = await imports.run(file, { mode: 'upsert', report: 'all' });
    const said = (line: number) => report.find((row) => row.line === line)!;
    expect(said(15).errors[0]!.message).toContain('line 2');
    expect(said(21).errors[0]!.message).toContain((await imports.card('T-1')).id);
    expect(said(2)).toEqual({ line: 2, external_id: 'T-1', outcome: 'unchanged', errors: [] });
  });

  it('changes nothing the second time', async () => {
    const { job } = await imports.run(file, { mode: 'upsert' });
    expect(job.counts).toEqual({ total: 25, created: 0, updated: 0, unchanged: 9, failed: 16 });
    expect(await imports.events()).toEqual([]);
    const again = await imports.run(file);
    expect(again.job.counts).toEqual({ total: 25, created: 0, updated: 0, unchanged: 0, failed: 25 });
    expect(again.faults[2]).toEqual(['external_id external_id_taken']);
    expect(again.faults[23]).toEqual(['name sibling_name_taken']);
  });
});

it('finds cards by their names and external ids in any Unicode form', async () => {
  const run = async (row: object) => (await imports.run([row], { mode: 'upsert' })).job.counts;
  const named = (name: string) => ({ type: 'Application', name, tags: ['Region/No\u0308rd'] });
  await db('tags').insert({ tag_group_id: region.id, name: 'N\u00f6rd' });
  expect(await run(named('Mu\u0308nchen'))).toMatchObject({ created: 1 });
  expect(await run(named('M\u00fcnchen'))).toMatchObject({ created: 0, unchanged: 1 });
  expect(await run(app('Ko\u0308ln'))).toMatchObject({ created: 1 });
  expect(await run(app('K\u00f6ln'))).toMatchObject({ created: 0, unchanged: 1 });
});

describe('a new card', () => {
  it('is written whole, with one event that tells all of it', async () => {
    const { job } = await imports.run([
      app('N-1', {
        name: '  New  ',
        subtype: 'microservice',
        alias: 'nw',
        description: 'Text',
        lifecycle: { active: '2024-01-01' },
        attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 12.5 },
        approval_status: 'APPROVED',
        tags: ['region/north', 'Region/South/West', 'Phase/One'],
        stakeholders: ['responsible:ANN@estate.example'],
      }),
      app('N-2', { status: 'ARCHIVED' }),
    ]);
    expect(job.counts).toMatchObject({ created: 2, failed: 0 });
    const card = await imports.card('N-1');
    expect(card).toMatchObject({
      name: 'New',
      subtype: 'microservice',
      alias: 'nw',
      approval_status: 'APPROVED',
      status: 'ACTIVE',
    });
    const events = await imports.events();
    expect(events.map(({ event_type }) => event_type)).toEqual([
      'card.created',
      'card.created',
      'tag.added',
      'tag.added',
      'tag.added',
      'stakeholder.added',
    ]);
    expect(events[0]!.cost_keys).toEqual(['attributes.costTotalAnnual']);
    expect(events[0]!.data).toEqual({
      id: card.id,
      type: 'Application',
      name: 'New',
      changes: {
        number: { old: null, new: card.number },
        subtype: { old: null, new: 'microservice' },
        name: { old: null, new: 'New' },
        alias: { old: null, new: 'nw' },
        description: { old: null, new: 'Text' },
        external_id: { old: null, new: 'N-1' },
        status: { old: null, new: 'ACTIVE' },
        approval_status: { old: null, new: 'APPROVED' },
        data_quality: { old: null, new: Number(card.data_quality) },
        'lifecycle.active': { old: null, new: '2024-01-01' },
        'attributes.businessCriticality': { old: null, new: 'missionCritical' },
        'attributes.costTotalAnnual': { old: null, new: 12.5 },
      },
    });
    expect(events[5]!.data).toMatchObject({
      stakeholder_id: expect.any(String),
      card_name: card.name,
      user_display_name: 'Ann',
      role_label: 'Responsible',
      changes: { role: { old: null, new: 'responsible' } },
    });
    const archived = await imports.card('N-2');
    expect(archived.status).toBe('ARCHIVED');
    expect(archived.archived_at).not.toBeNull();
  });

  it('is refused with tags and stakeholders that are not there or not allowed', async () => {
    const { faults, job } = await imports.run([
      app('N-3', { tags: ['Region/Nowhere'] }),
      app('N-4', { tags: ['Phase/One', 'Phase/Two'] }),
      app('N-5', { tags: ['Only/Tag'] }),
      app('N-6', { stakeholders: ['responsible:nobody@estate.example', 'noRole:ann@estate.example'] }),
      app('N-7', { tags: ['Region/North', 'region/NORTH'], stakeholders: [] }),
    ]);
    expect(job.counts).toMatchObject({ created: 1, failed: 4 });
    expect(faults).toEqual({
      1: ['tags unknown_tag'],
      2: ['tags single_tag'],
      3: ['tags tag_not_allowed'],
      4: ['stakeholders unknown_user', 'stakeholders unknown_role'],
    });
  });

  it('takes the id that its row brings, unless a card has it', async () => {
    const id = '0f6f1c1e-7a1e-4f7e-9d3c-2b1a5e8d7c60';
    const rows = [app('N-8', { id }), app('N-9', { parent_id: id })];
    expect((await imports.run(rows)).job.counts).toMatchObject({ created: 2 });
    expect(await imports.card('N-9')).toMatchObject({ parent_id: id });
    expect((await imports.run([app('N-10', { id })])).faults).toEqual({ 1: ['id id_taken'] });
    const unknown = await imports.run([{ id: id.replace('0f', '1f'), type: 'Application', name: 'x' }], {
      mode: 'upsert',
    });
    expect(unknown.faults).toEqual({ 1: ['id unknown_id'] });
  });
});

describe('an existing card', () => {
  it('keeps what its row does not name, and loses what it clears', async () => {
    const whole = app('E-1', {
      alias: 'al',
      description: 'Text',
      lifecycle: { active: '2020-01-01', endOfLife: '2030-01-01' },
      attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 10 },
      tags: ['Region/North'],
    });
    await imports.run([whole]);
    const { job } = await imports.run(
      [
        {
          type: 'Application',
          external_id: 'E-1',
          description: null,
          lifecycle: { endOfLife: null, phaseOut: '2029-01-01' },
          attributes: { costTotalAnnual: 11 },
          tags: ['Region/South/West'],
          stakeholders: ['responsible:bob@estate.example'],
        },
      ],
      { mode: 'upsert' },
    );
    expect(job.counts).toMatchObject({ updated: 1 });
    expect(await imports.card('E-1')).toMatchObject({
      name: 'E-1',
      alias: 'al',
      description: null,
      lifecycle: { active: '2020-01-01', phaseOut: '2029-01-01' },
      attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 11 },
    });
    const events = await imports.events();
    const types = events.map(({ event_type }) => event_type);
    expect(types).toEqual(['card.updated', 'tag.removed', 'tag.added', 'stakeholder.added']);
    expect(events[0]!.data.changes).toMatchObject({
      description: { old: 'Text', new: null },
      'lifecycle.endOfLife': { old: '2030-01-01', new: null },
      'attributes.costTotalAnnual': { old: 10, new: 11 },
    });
    const csv =
      'type,external_id,alias,attributes.costTotalAnnual,attributes.version,tags\nApplication,E-1,,,,\n';
    expect((await imports.run(csv, { mode: 'upsert' })).job.counts).toMatchObject({ unchanged: 1 });
    const cleared = await imports.run(csv, { mode: 'upsert', empty: 'clear' });
    expect(cleared.job.counts).toMatchObject({ updated: 1 });
    const card = await imports.card('E-1');
    expect(card).toMatchObject({ alias: null, attributes: { businessCriticality: 'missionCritical' } });
  });

  it('loses its approval by a change of content alone', async () => {
    await imports.run([app('E-2', { approval_status: 'APPROVED' })]);
    await imports.run([app('E-2', { tags: ['Region/North'] })], { mode: 'upsert' });
    expect((await imports.card('E-2')).approval_status).toBe('APPROVED');
    const row = [app('E-2', { description: 'New', approval_status: 'APPROVED' })];
    await imports.run(row, { mode: 'upsert' });
    expect((await imports.card('E-2')).approval_status).toBe('BROKEN');
    expect((await imports.run(row, { mode: 'upsert' })).job.counts).toMatchObject({ unchanged: 1 });
  });

  it('is found by id, by external id, or by parent and name', async () => {
    await imports.run([
      app('E-3'),
      app('E-4', { parent_external_id: 'E-3', name: 'A / B' }),
      { type: 'Application', name: 'Leaf', parent_path: ['E-3', 'A / B'] },
    ]);
    const { id } = await imports.card('E-4');
    const csv = 'type,name,parent_path,description\nApplication, leaf ,E-3 / A \\/ B,found\n';
    expect((await imports.run(csv, { mode: 'upsert' })).job.counts).toMatchObject({ created: 0, updated: 1 });
    const byId = await imports.run([{ id, external_id: 'E-4b', name: 'Renamed' }], { mode: 'upsert' });
    expect(byId.job.counts).toMatchObject({ updated: 1 });
    expect(await imports.card('E-4b')).toMatchObject({ id, name: 'Renamed' });
    const twice = await imports.run(
      [
        { id, type: 'Application', alias: 'one' },
        app('E-4b', { name: 'Renamed', alias: 'two' }),
        app('E-5', { name: 'Renamed', parent_external_id: 'E-3' }),
        { id, type: 'Provider', name: 'x' },
      ],
      { mode: 'upsert' },
    );
    expect(twice.faults).toEqual({
      2: ['external_id duplicate_in_file'],
      3: ['name sibling_name_taken'],
      4: ['type type_differs', 'id duplicate_in_file'],
    });
  });

  it('is written by the first sound row of several with one key', async () => {
    const { faults, job } = await imports.run([
      app('D-1', { attributes: { businessCriticality: 'none of them' } }),
      app('D-1', { alias: 'sound' }),
      app('D-1', { alias: 'too late' }),
      app('D-1c', { parent_external_id: 'D-1' }),
      // its fault is found after the keys have been compared
      app('D-2', { parent_external_id: 'nowhere' }),
      app('D-2', { parent_external_id: 'nowhere' }),
      app('D-2', { alias: 'sound', parent_external_id: 'D-1' }),
      { type: 'Application', name: 'D-3', lifecycle: { active: 'never' } },
      { type: 'Application', name: 'd-3', alias: 'sound' },
      app('D-4', { lifecycle: { active: 'never' } }),
      app('D-4', { attributes: { unknown: 1 } }),
    ]);
    expect(faults).toEqual({
      1: ['attributes.businessCriticality unknown_option'],
      3: ['external_id duplicate_in_file'],
      5: ['parent_external_id unknown_parent'],
      6: ['parent_external_id unknown_parent'],
      8: ['lifecycle.active bad_date'],
      10: ['lifecycle.active bad_date'],
      11: ['attributes.unknown unknown_attribute', 'external_id duplicate_in_file'],
    });
    expect(job.counts).toMatchObject({ created: 4, failed: 7 });
    const parent = await imports.card('D-1');
    expect(parent.alias).toBe('sound');
    expect(await imports.card('D-1c')).toMatchObject({ parent_id: parent.id });
    expect(await imports.card('D-2')).toMatchObject({ alias: 'sound', parent_id: parent.id });
  });

  it('is refused a key or name that another card has at the time', async () => {
    await imports.run([app('E-6'), app('E-7')]);
    const [six, seven] = [await imports.card('E-6'), await imports.card('E-7')];
    const swap = await imports.run(
      [
        { id: six.id, type: 'Application', external_id: 'E-7' },
        { id: seven.id, type: 'Application', external_id: 'E-8' },
      ],
      { mode: 'upsert' },
    );
    expect(swap.faults).toEqual({ 1: ['external_id external_id_taken'] });
    const names = await imports.run([app('E-6', { name: 'E-7' }), app('E-8', { name: 'New name' })], {
      mode: 'upsert',
    });
    expect(names.faults).toEqual({ 1: ['name sibling_name_taken'] });
  });
});
