import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { authority } from '../../emulators/certificates.ts';
import { eventKinds, expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';
import { storeRun } from '../../support/itsm.ts';

const base = '/api/v1/itsm-sync/mappings';
const connections = '/api/v1/itsm-sync/connections';

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const connection = await connect();

async function connect(): Promise<string> {
  const answer = await admin.post(connections, {
    name: `Instance ${randomUUID()}`,
    instance_url: 'https://127.0.0.1:9',
    username: 'estate',
    password: 'secret',
    ca: authority,
  });
  return answer.body.id;
}

let tables = 0;
/** A mapping to a table of its own. */
const input = (more: object = {}) => {
  tables += 1;
  return {
    connection_id: connection,
    card_type_key: 'Application',
    remote_table: `u_table_${tables}`,
    field_mappings: [{ card_field: 'name', remote_field: 'name', is_identity: true }],
    ...more,
  };
};
const create = (more: object = {}) => admin.create(base, input(more));
const eventsOf = (id: string) => db('events').whereRaw(`data ->> 'id' = ?`, [id]).orderBy('position');
const run = (mapping: { id: string }, status: string) => storeRun(db, mapping.id, { status });
const pair = (mapping: { id: string }, base: object = {}) =>
  db('itsm_pairs').insert({
    mapping_id: mapping.id,
    remote_id: 'r1',
    card_id: randomUUID(),
    origin: 'pulled',
    state: 'linked',
    base: JSON.stringify(base),
  });

describe('a mapping', () => {
  it('is created, read, listed, changed and deleted', async () => {
    const made = await admin.post(
      base,
      input({
        sync_direction: 'bidirectional',
        filter_query: ' operational_status=1 ',
        card_filter: 'subtype = businessApplication',
        card_defaults: { subtype: 'businessApplication' },
        record_defaults: { operational_status: '1' },
        field_mappings: [
          { card_field: 'name', remote_field: 'name', is_identity: true, direction: 'manual' },
          {
            card_field: 'attributes.businessCriticality',
            remote_field: 'business_criticality',
            transform_type: 'value_map',
            transform_config: { pairs: [{ remote: '1 - most critical', local: 'missionCritical' }] },
          },
          { card_field: 'attributes.costTotalAnnual', remote_field: 'cost', direction: 'newest_wins' },
          { card_field: 'lifecycle.active', remote_field: 'install_date', transform_type: 'date_format' },
          {
            card_field: 'description',
            remote_field: 'short_description',
            transform_type: 'expression',
            transform_config: { to_local: 'UPPER(value)', to_remote: 'LOWER(value)' },
          },
        ],
        relation_mappings: [],
      }),
    );
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({
      sync_mode: 'conservative',
      max_deletion_ratio: 0.5,
      skip_staging: false,
      filter_query: 'operational_status=1',
      is_active: true,
      schedule: null,
      broken: null,
      drift: [],
    });
    expect(made.body.field_mappings[2]).toMatchObject({
      transform_type: 'direct',
      transform_config: { as: 'number' },
      direction: 'newest_wins',
    });
    const id = made.body.id as string;
    const one = await admin.get(`${base}/${id}`);
    expect([one.text, one.headers.etag]).toEqual([made.text, made.headers.etag]);
    const listed = await admin.get(`${base}?connection_id=${connection}&fields=id,broken`);
    expect(listed.body.items).toContainEqual({ id, broken: null });
    expect((await admin.get(`${base}?connection_id=${randomUUID()}`)).body.items).toEqual([]);
    expect((await admin.get(`${connections}/${connection}`)).body.mapping_count).toBe(1);

    const headers = { 'if-match': one.headers.etag as string };
    // what was answered can be sent back
    const rows = made.body.field_mappings.map(({ id: _, ...row }: { id: string }) => row);
    const same = await admin.patch(`${base}/${id}`, { field_mappings: rows }, headers);
    expect([same.status, same.text]).toEqual([200, one.text]);
    const change = { sync_mode: 'strict', skip_staging: true, field_mappings: rows.slice(0, 2) };
    const changed = await ok(admin.patch(`${base}/${id}`, change, headers));
    expect(changed).toMatchObject({ sync_mode: 'strict', skip_staging: true });
    expect(changed.field_mappings).toHaveLength(2);
    await expectProblem(admin.patch(`${base}/${id}`, { is_active: false }, headers), 412);
    await expectProblem(admin.delete(`${base}/${id}`, undefined, headers), 412);
    await ok(admin.delete(`${base}/${id}`), 204);
    await expectProblem(admin.get(`${base}/${id}`), 404);

    const events = await eventsOf(id);
    expect(eventKinds(events, 'itsm_mapping')).toBe('created updated deleted');
    expect(Object.keys(events[1].data.changes).sort()).toEqual(['auto_apply', 'field_mappings', 'sync_mode']);
    expect(events[2].data.changes.remote_table.old).toBe(made.body.remote_table);
  });

  it('that does not exist, or has an invalid id', async () => {
    const none = `${base}/${randomUUID()}`;
    for (const answer of [await admin.get(none), await admin.patch(none, {}), await admin.delete(none)])
      await expectProblem(answer, 404, 'not_found');
    await expectProblem(admin.get(`${base}/x`), 422);
    await expectInvalid(admin.post(base, input({ connection_id: randomUUID() })), 'connection_id');
  });

  it('is unique by type and table, and cannot change its connection', async () => {
    const made = await create();
    await expectProblem(admin.post(base, input({ remote_table: made.remote_table })), 409, 'mapping_exists');
    await expectProblem(admin.delete(`${connections}/${connection}`), 409, 'mappings_present');
  });

  it('may be created without fields, and then cannot run', async () =>
    expect((await create({ field_mappings: undefined })).broken).toBe('No fields are mapped yet.'));
});

const field = (card_field: string, more: object = {}) => ({
  field_mappings: [
    { card_field: 'name', remote_field: 'name' },
    { card_field, remote_field: 'u_other', ...more },
  ],
});
const transform = (card_field: string, transform_type: string, transform_config?: object) =>
  field(card_field, { transform_type, transform_config });
const at = 'field_mappings.1.';
const expression = (to_local: string) => transform('description', 'expression', { to_local });

describe('a mapping is refused, naming the field:', () => {
  it.each([
    [{ card_type_key: 'Spaceship' }, 'card_type_key'],
    [field('attributes.nothing'), `${at}card_field`],
    [field('lifecycle.retired'), `${at}card_field`],
    [field('status'), `${at}card_field`],
    [field('name'), `${at}card_field`],
    [field('alias', { remote_field: 'name' }), `${at}remote_field`],
    [{ field_mappings: [{ card_field: 'alias', remote_field: 'name' }] }, 'field_mappings'],
    [field('alias', { direction: 'oldest_wins' }), `${at}direction`],
    [transform('alias', 'boolean'), `${at}transform_type`],
    [transform('parent_id', 'direct'), `${at}transform_type`],
    [transform('lifecycle.active', 'direct', { as: 'number' }), `${at}transform_config.as`],
    [transform('attributes.businessCriticality', 'value_map'), `${at}transform_config.pairs`],
    [
      transform('attributes.businessCriticality', 'value_map', {
        pairs: [{ remote: '1', local: 'no such' }],
      }),
      `${at}transform_config.pairs.0.local`,
    ],
    [
      transform('alias', 'value_map', { pairs: ['a', 'b'].map((local) => ({ remote: '1', local })) }),
      `${at}transform_config`,
    ],
    [
      transform('alias', 'value_map', { pairs: [{ remote: '1', local: 'x' }], yes: ['1'] }),
      `${at}transform_config.yes`,
    ],
    [expression('value +'), `${at}transform_config.to_local`],
    [expression('data.name'), `${at}transform_config.to_local`],
    [expression('children_count'), `${at}transform_config.to_local`],
    [expression('process.exit(1)'), `${at}transform_config.to_local`],
    [transform('description', 'expression', {}), `${at}transform_config.to_local`],
    [
      { ...transform('description', 'expression', { to_local: 'value' }), sync_direction: 'push' },
      `${at}transform_config.to_remote`,
    ],
    [
      { card_type_key: 'Organization', ...transform('parent_id', 'reference', { mapping_id: randomUUID() }) },
      `${at}transform_config.mapping_id`,
    ],
    [{ card_type_key: 'BusinessCapability', ...field('attributes.capabilityLevel') }, `${at}card_field`],
    [{ card_defaults: { subtype: 'no such' } }, 'card_defaults.subtype'],
    [{ card_defaults: { name: 'All' } }, 'card_defaults.name'],
    [{ record_defaults: { name: 'All' } }, 'record_defaults.name'],
    [{ card_filter: 'attributes.nothing = 1' }, 'card_filter'],
    [
      { relation_mappings: [{ relation_type_key: 'no_such', remote_type: 'x' }] },
      'relation_mappings.0.relation_type_key',
    ],
    [{ max_deletion_ratio: 1.5 }, 'max_deletion_ratio'],
    [{ follows_changes: true }, 'follows_changes'],
    [{ schedule: { cron: '61 * * * *' } }, 'schedule.cron'],
    [{ schedule: { cron: '1 * * * *', time_zone: 'Mars/Olympus' } }, 'schedule.time_zone'],
    [{ remote_table: 'a^b' }, 'remote_table'],
    [{ unknown: 1 }, 'unknown'],
  ])('%j', async (more, name) => {
    const answer = await admin.post(base, input(more));
    expect([answer.status, answer.body.errors?.[0].field], answer.text).toEqual([422, name]);
  });

  it('a read-only field, except for push', async () => {
    const capability = { card_type_key: 'BusinessCapability', ...field('attributes.capabilityLevel') };
    await create({ ...capability, sync_direction: 'push' });
  });
});

it('relations are mapped from the type of their source to the mapping of their target', async () => {
  const { rows } = await db.raw(`
       select key, target_type_key from relation_types where source_type_key = 'Application'
       and target_type_key <> 'Application' and not is_hidden order by key limit 1`);
  const { key, target_type_key } = rows[0];
  const target = await create({ card_type_key: target_type_key });
  const relation = { relation_type_key: key, remote_type: 'runs-on', target_mapping_id: target.id };
  const wrong = input({ relation_mappings: [{ ...relation, target_mapping_id: null }] });
  await expectInvalid(admin.post(base, wrong), 'relation_mappings.0.target_mapping_id');
  const fromTarget = admin.patch(`${base}/${target.id}`, { relation_mappings: [relation] });
  await expectInvalid(fromTarget, 'relation_mappings.0.relation_type_key');
  const twice = admin.post(base, input({ relation_mappings: [relation, relation] }));
  await expectInvalid(twice, 'relation_mappings.1.relation_type_key');
  const made = await create({ relation_mappings: [relation] });
  expect(made.relation_mappings).toEqual([{ ...relation, reversed: false }]);
  const used = await admin.delete(`${base}/${target.id}`);
  expect([used.status, used.body.code, used.body.mapping_ids]).toEqual([409, 'mapping_in_use', [made.id]]);
  await ok(admin.delete(`${base}/${made.id}`), 204);
  await ok(admin.delete(`${base}/${target.id}`), 204);
});

describe('a change', () => {
  it('deletes the bases of fields that are mapped differently', async () => {
    const agreed = { local: 'x', remote: 'x' };
    const made = await create(field('alias'));
    await pair(made, { name: agreed, alias: agreed, description: agreed });
    await db('itsm_sync_states').insert({ mapping_id: made.id, complete_read_at: db.fn.now() });
    const rows = [
      { card_field: 'name', remote_field: 'name', direction: 'manual' },
      { card_field: 'alias', remote_field: 'u_another' },
    ];
    await ok(admin.patch(`${base}/${made.id}`, { field_mappings: rows }));
    const { base: left } = await db('itsm_pairs').where({ mapping_id: made.id }).first('base');
    expect(Object.keys(left).sort()).toEqual(['description', 'name']);
    expect((await db('itsm_sync_states').where({ mapping_id: made.id }).first()).complete_read_at).toBeNull();
    await expectProblem(admin.patch(`${base}/${made.id}`, { remote_table: 'u_moved' }), 409, 'wrong_state');
    await ok(admin.delete(`${base}/${made.id}`), 204);
    expect(await db('itsm_pairs').where({ mapping_id: made.id })).toEqual([]);
  });

  it('is refused while a run is open, except for pausing', async () => {
    const made = await create();
    const id = await run(made, 'review');
    for (const answer of [
      await admin.patch(`${base}/${made.id}`, { sync_mode: 'strict' }),
      await admin.delete(`${base}/${made.id}`),
    ])
      expect([answer.status, answer.body.code, answer.body.run_id]).toEqual([409, 'itsm_run_open', id]);
    expect((await admin.patch(`${base}/${made.id}`, { is_active: false })).body.is_active).toBe(false);
    await db('itsm_runs').where({ id }).update({ status: 'completed' });
    await ok(admin.delete(`${base}/${made.id}`), 204);
    expect((await db('itsm_runs').where({ id }).first()).mapping_id).toBeNull();
  });

  it('sets, changes and deletes a schedule', async () => {
    const made = await create({ schedule: { cron: '*/15  * * * *', time_zone: 'Europe/Berlin' } });
    expect(made.schedule).toEqual({ cron: '*/15 * * * *', time_zone: 'Europe/Berlin', enabled: true });
    const paused = await admin.patch(`${base}/${made.id}`, {
      schedule: { cron: '5 * * * *', enabled: false },
    });
    expect(paused.body.schedule).toEqual({ cron: '5 * * * *', time_zone: 'UTC', enabled: false });
    expect((await admin.patch(`${base}/${made.id}`, { schedule: null })).body.schedule).toBeNull();
    expect(await db('job_schedules').where({ key: `itsm:${made.id}` })).toEqual([]);
    await admin.patch(`${base}/${made.id}`, { schedule: { cron: '5 * * * *' } });
    await ok(admin.delete(`${base}/${made.id}`), 204);
    expect(await db('job_schedules').where({ key: `itsm:${made.id}` })).toEqual([]);
  });

  it('of the metamodel breaks a mapping, and is reported', async () => {
    await admin.create('/api/v1/metamodel/types', {
      key: 'Machine',
      label: 'Machine',
      icon: 'x',
      fields_schema: [{ section: 'Facts', fields: [{ key: 'size', label: 'Size', type: 'number' }] }],
    });
    const made = await create({ card_type_key: 'Machine', ...field('attributes.size') });
    expect(made.broken).toBeNull();
    await admin.patch('/api/v1/metamodel/types/Machine?force=true', { fields_schema: [] });
    const { body } = await admin.get(`${base}/${made.id}`);
    expect(body.broken).toBe('field_mappings.1.card_field is not a field of Machine.');
    await admin.delete('/api/v1/metamodel/types/Machine?force=true');
    expect((await admin.get(`${base}/${made.id}`)).body.broken).toContain('card_type_key');
  });
});

it('is created as in each recipe of the documentation', async () => {
  const page = readFileSync('docs/integrations/itsm-mappings.md', 'utf8');
  const recipes = [...page.matchAll(/```json\n(.*?)\n```/gs)].map(([, text]) => JSON.parse(text!));
  expect(recipes.length).toBeGreaterThan(3);
  for (const recipe of recipes)
    expect((await admin.create(base, { ...recipe, connection_id: connection })).broken).toBeNull();
});

it('has no more rights than its creator', async () => {
  const permissions = (keys: string[]) => JSON.stringify(Object.fromEntries(keys.map((key) => [key, true])));
  const keys = ['itsm_sync.view', 'itsm_sync.manage', 'inventory.view'];
  await db('roles').insert({ key: 'syncer', label: 'Syncer', permissions: permissions(keys) });
  await db('roles').insert({ key: 'looker', label: 'Looker', permissions: permissions(['itsm_sync.view']) });
  await db.raw(`select record_events('[]'::jsonb, array['roles'])`);
  const [syncer, looker] = await t.clients('syncer', 'looker');
  const lacks = async (more: object) => (await syncer.post(base, input(more))).body.permission;
  expect(await lacks({})).toBe('inventory.create');
  const costs = [{ card_field: 'attributes.costTotalAnnual', remote_field: 'cost' }];
  expect(await lacks({ sync_direction: 'push', field_mappings: costs })).toBe('costs.view');
  const filtered = { sync_direction: 'push', card_filter: 'attributes.costTotalAnnual > 1' };
  expect(await lacks(filtered)).toBe('costs.view');
  await syncer.create(base, input({ sync_direction: 'push' }));
  const pulls = await create();
  await expectProblem(syncer.patch(`${base}/${pulls.id}`, { skip_staging: true }), 403, 'inventory.create');
  await ok(syncer.patch(`${base}/${pulls.id}`, { is_active: false }));
  await ok(looker.get(`${base}/${pulls.id}`));
  for (const answer of [
    await looker.post(base, input()),
    await looker.patch(`${base}/${pulls.id}`, { is_active: true }),
    await looker.delete(`${base}/${pulls.id}`),
  ])
    await expectProblem(answer, 403, 'itsm_sync.manage');
});
