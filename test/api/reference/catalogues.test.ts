/** The catalogue of capabilities. */

import { type Reaction, serveResponses } from '../../emulators/http.ts';
import { closeAfterAll, expectProblem, faults, ok, openApp, pluck } from '../../support/harness.ts';

const url = '/api/v1/capability-catalogue';

const { db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer'], {
  OUTBOUND_ALLOW: '127.0.0.1:*',
});

type Node = Record<string, unknown>;
const node = (answer: { body: { capabilities: Node[] } }, id: string) =>
  answer.body.capabilities.find((one) => one.id === id)!;

it('is read whole, in the language asked for', async () => {
  const english = await viewer.get(url);
  expect(english.body.version).toMatchObject({ source: 'bundled', node_count: 165 });
  expect(node(english, 'BC-400.10')).toMatchObject({
    name: 'Accounting',
    level: 2,
    parent_id: 'BC-400',
    description: null,
    existing_card_id: null,
  });
  expect(node(await viewer.get(`${url}?locale=de`), 'BC-400.10').name).toBe('Rechnungswesen');
  expect((await viewer.get('/api/v1/process-catalogue')).body.processes).toHaveLength(65);
  expect((await viewer.get('/api/v1/value-stream-catalogue')).body.value_streams).toHaveLength(12);
  expect(await faults(viewer.get(`${url}?locale=german`))).toContain('validation_failed');
});

it('becomes cards with those above them, once', async () => {
  const body = { catalogue_ids: ['BC-400.10.20', 'BC-400.20'], locale: 'de' };
  const made = await member.post(`${url}/import`, body);
  expect(made.body, made.text).toMatchObject({ created: 4, skipped: 0 });
  expect((await member.get(`/api/v1/cards/${made.body.ids[0]}`)).body).toMatchObject({
    type: 'BusinessCapability',
    name: 'Kreditorenbuchhaltung',
    external_id: 'BC-400.10.20',
    attributes: { capabilityLevel: 'L3' },
  });
  const again = await member.post(`${url}/import`, body);
  expect(again.body).toMatchObject({ created: 0, skipped: 4, ids: made.body.ids });
  expect(node(await viewer.get(url), 'BC-400.10.20').existing_card_id).toBe(made.body.ids[0]);
  expect(await faults(member.post(`${url}/import`, { catalogue_ids: ['BC-400', 'BC-9'] }))).toContain(
    'catalogue_ids.1 unknown_value',
  );
  // the import is one batch, and undone as one
  const { batch_id } = await db('events').where({ card_id: made.body.ids[0] }).first('batch_id');
  await admin.undo(batch_id);
  expect(node(await viewer.get(url), 'BC-400').existing_card_id).toBeNull();
});

it('knows a card of the same name in the same place, and puts what is missing below it', async () => {
  const people = await member.card({ type: 'BusinessCapability', name: 'PEOPLE' });
  expect(node(await viewer.get(url), 'BC-450').existing_card_id).toBe(people.id);
  const made = await member.post(`${url}/import`, { catalogue_ids: ['BC-450.20', 'BC-450.20'] });
  expect(made.body).toMatchObject({ created: 1, skipped: 1 });
  expect((await member.get(`/api/v1/cards/${made.body.ids[0]}`)).body.parent_id).toBe(people.id);
});

it('imported at the same time is made once', async () => {
  const body = { catalogue_ids: ['BC-300.10.10'] };
  const answers = await Promise.all([1, 2, 3].map(() => member.post(`${url}/import`, body)));
  expect(answers.map((answer) => answer.body.created).sort()).toEqual([0, 0, 3]);
  expect(new Set(answers.map((answer) => answer.body.ids[0])).size).toBe(1);
});

it('gives processes and value streams their subtypes', async () => {
  const process = await member.post('/api/v1/process-catalogue/import', { catalogue_ids: ['BP-300.10'] });
  const subtype = async (id: string) => (await member.get(`/api/v1/cards/${id}`)).body.subtype;
  expect(await subtype(process.body.ids[0])).toBe('group');
  const stream = await member.post('/api/v1/value-stream-catalogue/import', { catalogue_ids: ['VS-200'] });
  expect(await subtype(stream.body.ids[0])).toBe('valueStream');
});

it('is replaced by a larger one, as entries or as a table, and brought back', async () => {
  const csv =
    'id,parent_id,name,name.de,description\nX-1,,Banking,Bankgeschäft,All of it.\nX-1.1,X-1,Lending,,\n';
  const loaded = await admin.put(url, { catalogue_version: '7', source: 'banks.csv', csv });
  expect(loaded.body, loaded.text).toEqual({ kind: 'capability', catalogue_version: '7', node_count: 2 });
  const read = await viewer.get(`${url}?locale=de`);
  expect(read.body.version).toMatchObject({ catalogue_version: '7', source: 'banks.csv', node_count: 2 });
  expect(read.body.capabilities).toMatchObject([
    { id: 'X-1', name: 'Bankgeschäft', level: 1, description: 'All of it.' },
    { id: 'X-1.1', name: 'Lending', level: 2, parent_id: 'X-1' },
  ]);
  const put = (body: object) => faults(admin.put(url, { catalogue_version: '8', ...body }));
  expect(await put({})).toContain('nodes required');
  expect(await put({ nodes: [{ id: 'a', names: { de: 'A' } }] })).toContain('nodes.0.names required');
  expect(await put({ csv: 'id,colour\n' })).toContain('csv bad_csv');
  // a table of cards is one as well
  const head = 'type,external_id,parent_external_id,name,description';
  const cards = `${head}\nBusinessCapability,Z-1,,'=Fun,\nBusinessCapability,Z-1.1,Z-1,More,Text\n`;
  expect(await put({ csv: cards.replace('y,Z-1.1', 'yX,Z-1.1') })).toContain('csv bad_csv');
  expect(await put({ csv: cards.replace('Text', 'x'.repeat(10_001)) })).toContain(
    'csv.1.descriptions.en too_long',
  );
  expect((await admin.put(url, { catalogue_version: '8', csv: cards })).body.node_count).toBe(2);
  const version = async (path: string) => (await viewer.get(`/api/v1/${path}`)).body.version;
  expect(await version('capability-catalogue')).toMatchObject({ macro_count: 1, macro_warnings: [] });
  expect(await version('process-catalogue')).toMatchObject({ process_count: 65, node_count: 65 });
  expect(await version('value-stream-catalogue')).toMatchObject({ value_stream_count: 12 });
  expect((await viewer.get(url)).body.capabilities).toMatchObject([
    { id: 'Z-1', name: '=Fun' },
    { id: 'Z-1.1', parent_id: 'Z-1', description: 'Text' },
  ]);
  const nodes = [{ id: 'Y-1', names: { en: 'Insurance' } }];
  expect((await admin.put(url, { catalogue_version: '8', nodes })).body.node_count).toBe(1);
  await ok(admin.delete(url), 204);
  await expectProblem(admin.delete(url), 404, 'not_found');
  expect((await viewer.get(url)).body.version.source).toBe('bundled');
  const events = await db('events')
    .whereLike('event_type', 'reference_catalogue.%')
    .orderBy('position')
    .pluck('event_type');
  expect(events).toEqual([
    'reference_catalogue.loaded',
    'reference_catalogue.loaded',
    'reference_catalogue.loaded',
    'reference_catalogue.removed',
  ]);
});

describe('an entry', () => {
  it('has details, and is left out when it is deprecated', async () => {
    const details = {
      aliases: ['Guidance'],
      references: ['https://example.com/steering'],
      framework_ids: { APQC: '10002' },
    };
    const nodes = [
      {
        id: 'Q-1',
        names: { en: 'Steering' },
        notes: { en: 'Begin here.', de: 'Hier beginnen.' },
        ...details,
      },
      { id: 'Q-2', names: { en: 'Old' }, is_deprecated: true },
      { id: 'Q-3', names: { en: 'Old, but needed' }, is_deprecated: true },
      { id: 'Q-3.1', parent_id: 'Q-3', names: { en: 'Present' } },
    ];
    await ok(admin.put(url, { catalogue_version: '9', nodes }));
    const read = async (query = '') => (await ok(viewer.get(`${url}${query}`))).capabilities;
    expect((await read('?locale=de'))[0]).toMatchObject({ ...details, notes: 'Hier beginnen.', order: 1 });
    expect(pluck(await read(), 'id', 'order', 'is_deprecated')).toEqual([
      ['Q-1', 1, false],
      ['Q-3', 2, true],
      ['Q-3.1', 1, false],
    ]);
    expect(await read('?include_deprecated=true')).toHaveLength(4);
    const csv = 'id,name,aliases,is_deprecated\nQ-1,Steering,"Guidance; Lead",true\n';
    await ok(admin.put(url, { catalogue_version: '10', csv }));
    expect(await read('?include_deprecated=true')).toMatchObject([
      { id: 'Q-1', aliases: ['Guidance', 'Lead'], is_deprecated: true },
    ]);
    await ok(admin.delete(url), 204);
  });

  it('relates its card to those of other catalogues when it is imported', async () => {
    const streams = '/api/v1/value-stream-catalogue';
    const names = { en: 'Lend' };
    const stage = {
      id: 'LS-1.1',
      parent_id: 'LS-1',
      names: { en: 'Check' },
      capability_ids: ['BC-100', 'BC-none'],
      process_ids: ['BP-100'],
    };
    await ok(admin.put(streams, { catalogue_version: '1', nodes: [{ id: 'LS-1', names }, stage] }));
    const [capability] = (await ok(member.post(`${url}/import`, { catalogue_ids: ['BC-100'] }))).ids;
    const [process] = (
      await ok(member.post('/api/v1/process-catalogue/import', { catalogue_ids: ['BP-100'] }))
    ).ids;
    const send = () => ok(member.post(`${streams}/import`, { catalogue_ids: ['LS-1.1'] }));
    const made = await send();
    expect(made).toMatchObject({ created: 2, relations_created: 2, relations_refused: 0 });
    const [id] = made.ids;
    const { items } = (await member.get(`/api/v1/relations?card_id=${id}`)).body;
    expect(pluck(items, 'type', 'source_id', 'target_id').sort()).toEqual([
      ['relBizCtxToBC', id, capability],
      ['relProcessToBizCtx', process, id],
    ]);
    expect(await send()).toEqual({ ...made, created: 0, skipped: 2, relations_created: 0 });
    await ok(admin.delete(streams), 204);
  });
});

describe('a published catalogue', () => {
  let reaction: Reaction;
  const document = (version: string, ...ids: string[]) => ({
    catalogue_version: version,
    source: 'Publisher',
    nodes: ids.map((id) => ({ id, names: { en: `The ${id}`, de: `Das ${id}` } })),
  });
  const compare = (body: object = {}) => admin.post(`${url}/compare`, body);

  it('is compared and loaded on demand, from an address that is remembered', async () => {
    const { origin } = closeAfterAll(await serveResponses(() => reaction));
    const from = `${origin}/capabilities.json`;
    await expectProblem(compare(), 409, 'wrong_state');
    reaction = { status: 200, body: document('1.9', 'A', 'B') };
    const loaded = await ok(admin.put(url, { url: from }));
    expect(loaded).toEqual({ kind: 'capability', catalogue_version: '1.9', node_count: 2 });
    const version = async (client = admin) => (await client.get(url)).body.version;
    expect(await version()).toMatchObject({ source: 'Publisher', url: from });
    expect((await version(viewer)).url).toBeNull();
    await expectProblem(
      admin.put(url, { url: from, nodes: document('1', 'A').nodes }),
      422,
      'validation_failed',
      'url',
    );
    reaction = { status: 200, body: { nodes: document('1', 'A').nodes } };
    await expectProblem(compare(), 422, 'validation_failed', 'url');
    const changed = document('1.10', 'A', 'C');
    changed.nodes[0]!.names.en = 'Another A';
    reaction = { status: 200, body: changed };
    expect(await ok(compare())).toEqual({
      url: from,
      catalogue_version: '1.10',
      current_version: '1.9',
      is_newer: true,
      node_count: 2,
      added: 1,
      changed: 1,
      removed: 1,
    });
    expect((await version()).catalogue_version).toBe('1.9');
    expect(await faults(compare({ url: 'https://10.0.0.1/x' }))).toContain('url address_refused');
    for (const body of ['<p>', { nodes: [{ id: 'A' }] }, { ...changed, more: 1 }]) {
      reaction = { status: 200, body };
      expect(await faults(compare())).toContain('url bad_document');
    }
    for (const failure of [{ status: 500 }, 'reset'] as const) {
      reaction = failure;
      await expectProblem(compare(), 502, 'upstream_failed');
    }
    await ok(admin.delete(url), 204);
  });
});
