import { prepareDatabase } from '../../migrations/prepare.ts';
import { type Db, openDatabase } from '../../platform/database.ts';
import { administrator, baseline, fixtureSql, restoreFixture } from '../fixtures/fixture.ts';
import { mappedField, plainMapping } from '../integrations/exchange/itsm/mapping.support.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { createTestApp, type TestApp, type TestClient } from '../support/harness.ts';

/*
 * A workspace as version 0.1.0 has stored it, with rows in every table, is upgraded and read through the API. Tables whose
 * rows a later step removes on purpose, or that it drops, are named here.
 */
const emptied: string[] = ['duplicate_parts', 'analysis_parts'];
/** Tables that a later step renames. */
const renamed: Record<string, string> = {
  itsm_books: 'itsm_sync_states',
  itsm_questions: 'itsm_review_items',
  itsm_waiting_records: 'itsm_deferred_records',
};

interface StoredCard {
  id: string;
  name: string;
  type: string;
  attributes: Record<string, unknown>;
  relations: number;
}

let t: TestApp;
let client: TestClient;
let rowsBefore: Record<string, number>;
let cards: StoredCard[];
let run: string;

/** A mapping as runs of version 0.1.0 stored it. */
const runMapping = {
  mapping: {
    id: 'm',
    cardType: 'Application',
    table: 'cmdb_ci_appl',
    direction: 'pull',
    fields: [
      { path: 'name', remote: 'name', transform: { kind: 'direct' }, rule: 'remote_leads', identity: true },
      { path: 'attributes.cost', remote: 'cost', transform: { kind: 'number' } },
      { path: 'attributes.end', remote: 'end', transform: { kind: 'date', remote: 'datetime' } },
      { path: 'relations.at', remote: 'place', transform: { kind: 'reference' } },
      { path: 'description', remote: 'note', transform: { kind: 'expression', toLocal: 'value' } },
    ].map((field) => ({ rule: 'manual', identity: false, ...field })),
    relations: [{ relationType: 'uses', remoteType: 'Uses', reversed: true }],
    defaults: { local: {}, remote: { u_source: 'estate' } },
    filtered: true,
    deletion: { mode: 'strict', maxCount: 100, maxRatio: 1, quarantineMs: 120_000, completeReads: 0 },
  },
  connectionId: 'c',
  remoteFilter: 'name=a',
  cardFilter: null,
  autoApply: { maxChanges: null, maxRatio: 0.5 },
  completeEveryMs: 86_400_000,
  references: { 'relations.at': 'other' },
  relationTargets: ['m'],
  resting: { other: 'Place with places' },
  targetTables: {},
  active: true,
  broken: null,
  brokenByDrift: false,
  owner: null,
  mappingDirection: 'bidirectional',
  again: ['r1'],
};

beforeAll(async () => {
  const database = await createEmptyDatabase();
  const db = openDatabase({ url: database.url, name: 'test', poolMax: 2 });
  await restoreFixture(db, '0.1.0');
  [{ id: run }] = await db('itsm_runs').update('mapping', JSON.stringify(runMapping)).returning('id');
  // a colour that the workspace chose
  await db.raw(
    `update card_types set fields_schema = replace(fields_schema::text, '#4caf50', '#123456')::jsonb where key = 'Application'`,
  );
  await db('card_types').where('key', 'Platform').update('label', 'Base');
  rowsBefore = await countRows(db);
  cards = await storedCards(db);
  await prepareDatabase(db);
  await db.destroy();
  t = await createTestApp({}, database);
  client = t.by((await t.anonymous.post('/api/v1/auth/login', administrator)).body.access_token, t.anonymous);
});
afterAll(() => t.close());

async function countRows(db: Db): Promise<Record<string, number>> {
  const { rows: tables } = await db.raw(`select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`);
  const counts: Record<string, number> = {};
  for (const { name } of tables) counts[name] = Number((await db(name).count({ n: '*' }).first())!.n);
  return counts;
}

/** The cards that most has happened to. */
async function storedCards(db: Db): Promise<StoredCard[]> {
  const { rows } = await db.raw(`with shown as (
       select c.* from cards c join card_types t on t.key = c.type where c.status = 'ACTIVE' and not t.is_hidden
     )
     select c.id, c.name, c.type, c.attributes,
       (select count(*)::int from relations r join shown s on s.id = r.source_id join shown d on d.id = r.target_id
        where c.id in (s.id, d.id)) as relations
     from shown c
     order by (select count(*) from events e where c.id in (e.card_id, e.peer_card_id)) desc limit 10`);
  return rows;
}

it('begins with the baseline', () =>
  expect(
    fixtureSql('0.1.0').startsWith(baseline()),
    'the baseline has changed: add a step, or before the release run test/fixtures/record.ts',
  ).toBe(true));

it('keeps the rows of every table', async () => {
  expect(Object.entries(rowsBefore).filter(([, rows]) => rows === 0)).toEqual([]);
  const rowsAfter = await countRows(t.services.db);
  for (const [table, rows] of Object.entries(rowsBefore)) {
    if (!emptied.includes(table))
      expect(rowsAfter[renamed[table] ?? table], table).toBeGreaterThanOrEqual(rows);
  }
});

it('shows cards with their attributes, relations and history', async () => {
  for (const { id, name, type, attributes, relations } of cards) {
    expect((await client.get(`/api/v1/cards/${id}`)).body).toMatchObject({ id, name, type, attributes });
    expect((await client.get(`/api/v1/relations?card_id=${id}&page_size=1`)).body.total).toBe(relations);
    const history = await client.get(`/api/v1/cards/${id}/history?page_size=200`);
    expect(history.body.items.at(-1)).toMatchObject({ event_type: 'card.created' });
  }
});

it('converts the mappings that runs have stored', async () => {
  const { mapping } = await t.services.db('itsm_runs').where({ id: run }).first('mapping');
  const [name, cost, end, place, note] = mapping.fields;
  expect(name).toEqual(mappedField('name', 'name', { direction: 'remote_leads', is_identity: true }));
  expect(cost).toMatchObject({ transform_type: 'direct', transform_config: { as: 'number' } });
  expect(end).toMatchObject({ transform_type: 'date_format', transform_config: { remote: 'datetime' } });
  expect(place).toMatchObject({ transform_type: 'reference', transform_config: { mapping_id: 'other' } });
  expect(note.transform_config).toEqual({ to_local: 'value', to_remote: null });
  const { fields: _, relations, ...settings } = mapping;
  expect(relations).toEqual([
    { relation_type_key: 'uses', remote_type: 'Uses', target_mapping_id: 'm', reversed: true },
  ]);
  const {
    fields: __,
    relations: ___,
    ...plain
  } = plainMapping({
    connection_id: 'c',
    sync_direction: 'pull',
    filter_query: 'name=a',
    record_defaults: { u_source: 'estate' },
    quarantine_minutes: 2,
    auto_apply: true,
    auto_apply_max_ratio: 0.5,
    complete_every_hours: 24,
  });
  expect(settings).toEqual({
    ...plain,
    broken: null,
    broken_by_drift: false,
    blocked_targets: { other: 'Place with places' },
    target_tables: {},
    mapping_direction: 'bidirectional',
    again: ['r1'],
  });
});

it('answers every operation that reads and needs no input', async () => {
  // the fixture has no files: they are not in the database
  const without = [
    '/api/v1/settings/favicon',
    '/api/v1/settings/logo',
    // its provider is not there
    '/api/v1/settings/ai/models',
  ];
  const { paths } = t.app.swagger() as unknown as {
    paths: Record<string, { get?: { parameters?: { required?: boolean }[] } }>;
  };
  const readable = Object.keys(paths).filter((path) => {
    const { get } = paths[path]!;
    const needsInput = path.includes('{') || get?.parameters?.some(({ required }) => required);
    return get && !needsInput && !path.endsWith('/stream') && !without.includes(path);
  });
  expect(readable.length).toBeGreaterThan(100);
  const refused: string[] = [];
  for (const path of readable) {
    const { status } = await client.get(path);
    if (status !== 200) refused.push(`${path}: ${status}`);
  }
  expect(refused).toEqual([]);
});

it('accepts writes', async () => {
  const [card] = cards;
  const { status, body } = await client.patch(`/api/v1/cards/${card!.id}`, { alias: 'After the upgrade' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ name: card!.name, alias: 'After the upgrade' });
});

it('replaces the default colours of options, and keeps those that were chosen', async () => {
  const { body } = await client.get('/api/v1/metamodel/types/Application');
  const options = (key: string): Record<string, string> =>
    Object.fromEntries(
      body.fields_schema
        .flatMap(({ fields }: { fields: { key: string; options?: object[] }[] }) => fields)
        .find((field: { key: string }) => field.key === key)
        .options.map(({ key: option, color }: { key: string; color: string }) => [option, color]),
    );
  expect(options('timeModel')).toEqual({
    tolerate: '#7c8aa5',
    invest: '#123456',
    migrate: '#2f86e0',
    eliminate: '#a8321f',
  });
  expect(Object.values(options('functionalSuitability'))).toEqual([
    '#16776a',
    '#4f9d94',
    '#c38423',
    '#ad3f2b',
  ]);
});

it('translates delivered labels to German, and leaves those that were changed', async () => {
  const german = { 'accept-language': 'de' };
  const { body } = await client.get('/api/v1/metamodel/types/Application', german);
  expect([body.label, body.subtypes[0].label]).toEqual(['Anwendung', 'Fachanwendung']);
  expect(body.stakeholder_roles.map(({ label }: { label: string }) => label)).toContain('Beobachter');
  expect((await client.get('/api/v1/metamodel/types/Platform', german)).body.label).toBe('Base');
  const uses = await client.get('/api/v1/metamodel/relation-types/relOrgToApp', german);
  expect([uses.body.label, uses.body.attributes_schema[0].options[0].label]).toEqual(['nutzt', 'Eigentümer']);
});
