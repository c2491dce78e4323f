import { randomUUID } from 'node:crypto';
import { packPage, unpackPage } from '../../../domain/modelling/diagrams/drawing.work.ts';
import { deleteUnusedDrawings } from '../../../domain/modelling/diagrams/drawings.store.ts';
import type { TestClient } from '../../support/harness.ts';
import { eventKinds, expectInvalid, expectProblem, ok, openApp, refusal } from '../../support/harness.ts';
import { merge } from '../cards/merge.fixture.ts';
import { diagramWorld, drawn, kinds, url } from './diagrams.fixture.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const d = diagramWorld(admin);

describe('a diagram', () => {
  it('is made, read, listed, changed and deleted, with an event for each, and comes back whole', async () => {
    const [a, b] = [await d.card('Alpha'), await d.card('Beta')];
    const since = await admin.position();
    const xml = drawn(a, 'Alpha');
    const first = await admin.post(url, {
      name: ' Landscape ',
      data: { xml, zoom: 2, thumbnail: 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"/%3E' },
      card_ids: [b.toUpperCase()],
    });
    expect(first.status, first.text).toBe(201);
    const { id } = first.body;
    expect(first.body).toMatchObject({
      name: 'Landscape',
      description: null,
      data: { xml, zoom: 2, thumbnail: expect.stringContaining('data:') },
      card_ids: [b],
      card_refs: [a],
      group_ids: [],
      visibility: 'public',
      created_by: admin.userId,
      is_favorite: false,
    });
    expect((await viewer.get(`${url}/${id}`)).body).toEqual({ ...first.body, can_edit: false });
    expect((await admin.get(`${url}/${id}`)).headers.etag).toBe(first.headers.etag);
    const { items } = (await viewer.get(`${url}?search=landsc&card_id=${a}`)).body;
    expect(items).toMatchObject([{ id, card_count: 2, card_ids: [b], thumbnail: expect.any(String) }]);
    expect(items[0]).not.toHaveProperty('data');

    const patch = { description: 'About', data: { zoom: null, grid: true, thumbnail: null }, card_ids: [a] };
    const changed = await ok(member.patch(`${url}/${id}`, patch, { 'if-match': first.headers.etag! }));
    expect(changed.data).toEqual({ xml, grid: true });
    expect(changed.card_ids).toEqual([a]);
    await expectProblem(
      member.patch(`${url}/${id}`, {}, { 'if-match': first.headers.etag! }),
      412,
      'precondition_failed',
    );
    await ok(admin.delete(`${url}/${id}`), 204);
    await expectProblem(admin.get(`${url}/${id}`), 404, 'not_found');
    const events = await viewer.changes(since, 'diagram');
    expect(eventKinds(events, 'diagram')).toBe('created linked updated unlinked linked unlinked deleted');
    expect(events[2].data).toMatchObject({ changes: { description: { old: null, new: 'About' } } });
    // the drawing is told by its fingerprint
    expect(JSON.stringify(events)).not.toContain('mxGraphModel');
    await admin.undo();
    const { body } = await admin.get(`${url}/${id}`);
    expect(body).toMatchObject({ card_ids: [a], data: { xml, grid: true } });
    expect(kinds((await viewer.get(`/api/v1/cards/${a}/history`)).body.items)).toContain('diagram.unlinked');
    expect(await (await t.holding('inventory.view')).changes(since, 'diagram')).toEqual([]);
  });

  it('is found by its author and by the cards in it that the caller sees', async () => {
    const [inside, linked] = [await d.card('Quasar'), await d.card('Nebula')];
    const { id } = await d.diagram({ data: { xml: drawn(inside, 'X') }, card_ids: [linked] }, member);
    const found = async (search: string, client = viewer) =>
      (await client.get(`${url}?search=${search}&fields=id`)).body.items;
    expect(await found('QUASAR')).toEqual([{ id }]);
    expect(await found('nebul')).toEqual([{ id }]);
    expect(await found('member')).toContainEqual({ id });
    expect(await found('quasar', await t.holding('diagrams.view'))).toEqual([]);
    await ok(admin.patch(`/api/v1/cards/${inside}`, { name: 'Pulsar' }));
    expect([await found('quasar'), await found('pulsar')]).toEqual([[], [{ id }]]);
  });

  it('is refused where it does not fit', async () => {
    const { id } = await d.diagram();
    const unknown = randomUUID();
    const bad = (body: object, field: string) =>
      expectInvalid(admin.post(url, { name: 'D', ...body }), field);
    await bad({ name: ' ' }, 'name');
    await bad({ data: { xml: '<svg/>' } }, 'data.xml');
    await bad({ data: { xml: '<!DOCTYPE a><mxfile/>' } }, 'data.xml');
    await bad({ data: { thumbnail: 'data:text/html,x' } }, 'data.thumbnail');
    await bad({ data: { state: 'x'.repeat(100_001) } }, 'data');
    await bad({ card_ids: [unknown] }, 'card_ids.0');
    const a = await d.card();
    await bad({ card_ids: [a, a] }, 'card_ids.1');
    for (const act of [
      admin.delete(`${url}/${id}/favorite`),
      admin.post(`${url}/${id}/cards`, { card_id: unknown }),
      admin.delete(`${url}/${id}/cards/${a}`),
    ])
      await expectProblem(act, 404, 'not_found');
  });

  it('takes a drawing back to the same answer, whatever its pages', async () => {
    const a = await d.card('Packed & pressed');
    const page = drawn(a, 'Packed &amp; pressed');
    const xml = `<?xml version="1.0"?>\r\n<mxfile><diagram>${packPage(page)}</diagram><diagram>${page}</diagram></mxfile>`;
    const { id, data } = await d.diagram({ data: { xml } });
    expect(data.xml).toBe(xml);
    await admin.patch(`/api/v1/cards/${a}`, { name: 'Renamed' });
    const after = (await viewer.get(`${url}/${id}`)).body.data.xml;
    const [, packed] = /<diagram>([^<]*)<\/diagram>/.exec(after)!;
    expect(unpackPage(packed!, 10_000)).toContain('label="Renamed"');
    expect(after.split('label="Renamed"')).toHaveLength(2);
    // saved as it was read, it follows on from there
    await admin.patch(`${url}/${id}`, { data: { xml: after } });
    await admin.patch(`/api/v1/cards/${a}`, { name: 'Once more' });
    expect((await viewer.get(`${url}/${id}`)).body.data.xml).toContain('label="Once more"');
    const broken = `<mxfile><diagram>${packPage('<mxGraphModel>')}</diagram></mxfile>`;
    expect(await refusal(admin.patch(`${url}/${id}`, { data: { xml: broken } }))).toContain('data.xml');
  });
});

describe('while a large drawing is read', () => {
  const a = '00000000-0000-4000-8000-000000000001';
  const cells = Array.from({ length: 12_000 }, (_, n) => `<object id="${n}" label="Thing" cardId="${a}"/>`);
  const large = `<mxfile><diagram>${packPage(`<mxGraphModel><root>${cells.join('')}</root></mxGraphModel>`)}</diagram><diagram><mxGraphModel>${'<mxCell/>'.repeat(9_000)}</mxGraphModel></diagram></mxfile>`;

  it('others are answered, and it comes back as any other', async () => {
    const { id } = await d.diagram();
    let answered = 0;
    let saved: Awaited<ReturnType<TestClient['patch']>> | undefined;
    void admin.patch(`${url}/${id}`, { data: { xml: large } }).then((answer) => {
      saved = answer;
    });
    while (!saved) {
      await ok(viewer.get(`${url}/favorites`));
      answered += 1;
    }
    expect(saved.status, saved.text).toBe(200);
    expect(answered).toBeGreaterThan(3);
    // names a card that is none
    expect([saved.body.data.xml === large, saved.body.card_refs]).toEqual([true, []]);
    const broken = large.replace('</mxfile>', '');
    await expectInvalid(admin.patch(`${url}/${id}`, { data: { xml: broken } }), 'data.xml');
  });
});

describe('its cards', () => {
  it('are followed when they are renamed, archived, merged and deleted, and when that is undone', async () => {
    const [a, b] = [await d.card('Wages'), await d.card('Salaries')];
    const { id } = await d.diagram({ data: { xml: drawn(a, 'Wages') }, card_ids: [a] });
    const shown = async () => {
      const { headers, body } = await viewer.get(`${url}/${id}`);
      const [, label] = /label="([^"]*)"/.exec(body.data.xml)!;
      const [, ref] = /cardId="([^"]*)"/.exec(body.data.xml)!;
      const [, state] = /cardState="([^"]*)"/.exec(body.data.xml) ?? [];
      return { label, ref, state, refs: body.card_refs, links: body.card_ids, etag: headers.etag };
    };
    const before = await shown();
    await admin.patch(`/api/v1/cards/${a}`, { name: 'Pay' });
    const renamed = await shown();
    expect(renamed).toMatchObject({ label: 'Pay', ref: a, refs: [a] });
    expect(renamed.etag).not.toBe(before.etag);
    await admin.undo();
    expect(await shown()).toEqual(before);

    await admin.post(`/api/v1/cards/${a}/archive`);
    expect(await shown()).toMatchObject({ label: 'Wages', state: 'archived', refs: [a] });
    await admin.post(`/api/v1/cards/${a}/restore`);
    expect(await shown()).toEqual(before);

    const merged = await ok(merge(admin, b, [a]));
    expect(await shown()).toMatchObject({ label: 'Salaries', ref: b, refs: [b], links: [b] });
    for (const card of [a, b]) {
      const list = await viewer.get(`${url}?card_id=${card}&fields=id`);
      expect(list.body.items ?? [], list.text).toEqual(card === b ? [{ id }] : []);
    }
    await ok(admin.post(`/api/v1/card-merges/${merged.merge_id}/undo`));
    expect(await shown()).toEqual(before);

    await admin.post(`/api/v1/cards/${a}/archive`);
    await ok(admin.delete(`/api/v1/cards/${a}`));
    expect(await shown()).toMatchObject({ label: 'Wages', ref: a, state: 'deleted', refs: [], links: [] });
    // the mark is saved with what was read, and goes when the card comes back
    const { data } = (await admin.get(`${url}/${id}`)).body;
    await admin.patch(`${url}/${id}`, { data: { xml: data.xml } });
    expect((await shown()).state).toBe('deleted');
    await admin.undo();
    await db('events')
      .where({ event_type: 'card.deleted', card_id: a })
      .first('batch_id')
      .then(({ batch_id }) =>
        admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false }),
      );
    expect(await shown()).toMatchObject({ state: 'archived', refs: [a], links: [a] });
  });

  it('of a type that is hidden are neither listed nor told of', async () => {
    const hidden = await d.card('Secret engine', { type: 'Platform' });
    const { id } = await d.diagram({ data: { xml: drawn(hidden, 'Secret engine') }, card_ids: [hidden] });
    const hide = async (is_hidden: boolean) => {
      await db('card_types').where({ key: 'Platform' }).update({ is_hidden });
      await db.raw(`select raise_topics(array['metamodel'])`);
    };
    await db('cards').where({ id: hidden }).update({ name: 'Other' });
    await hide(true);
    const now = (await viewer.get(`${url}/${id}`)).body;
    expect(now).toMatchObject({ card_ids: [], card_refs: [], data: { xml: drawn(hidden, 'Secret engine') } });
    expect((await viewer.get(`${url}?card_id=${hidden}`)).body.total).toBe(0);
    // what one does not see, one does not replace either
    await admin.patch(`${url}/${id}`, { card_ids: [] });
    await hide(false);
    expect((await viewer.get(`${url}/${id}`)).body.card_ids).toEqual([hidden]);
  });

  it('are linked and unlinked one by one, and by who may do so on the card', async () => {
    const { id } = await d.diagram();
    const a = await d.card();
    const since = await admin.position();
    expect((await admin.post(`${url}/${id}/cards`, { card_id: a })).body.card_ids).toEqual([a]);
    await admin.create(`${url}/${id}/cards`, { card_id: a });
    await expectProblem(viewer.delete(`${url}/${id}/cards/${a}`), 403, 'forbidden');
    await db('stakeholders').insert({ card_id: a, user_id: viewer.userId, role: 'responsible' });
    await db.raw(`select raise_topics(array['cards:Application'])`);
    await ok(viewer.delete(`${url}/${id}/cards/${a}`), 204);
    expect(eventKinds(await admin.changes(since, 'diagram'), 'diagram')).toBe('linked unlinked');
    await admin.undo();
    expect((await viewer.get(`${url}/${id}`)).body.card_ids).toEqual([a]);
  });
});

it('groups and stars gather diagrams, and are undone', async () => {
  const { id } = await d.diagram();
  const since = await admin.position();
  const group = await admin.create('/api/v1/diagram-groups', { name: ' Target ', color: '#112233' });
  expect(group).toMatchObject({ name: 'Target', color: '#112233', sort_order: 0, diagram_count: 0 });
  const other = await admin.create('/api/v1/diagram-groups', { name: 'Other', sort_order: -1 });
  await expectProblem(admin.post('/api/v1/diagram-groups', { name: 'tArget' }), 409, 'name_taken');
  await expectProblem(
    admin.patch(`/api/v1/diagram-groups/${other.id}`, { name: 'Target' }),
    409,
    'name_taken',
  );
  const set = await admin.put(`${url}/${id}/groups`, { group_ids: [group.id, other.id] });
  expect(set.body.group_ids).toEqual([other.id, group.id]);
  await expectInvalid(admin.put(`${url}/${id}/groups`, { group_ids: [randomUUID()] }), 'group_ids.0');
  expect((await viewer.get(`${url}?group_id=${group.id}&fields=id`)).body.items).toEqual([{ id }]);
  const list = (await viewer.get('/api/v1/diagram-groups')).body.items;
  expect(list.find((item: { id: string }) => item.id === group.id).diagram_count).toBe(1);
  const patched = await admin.patch(`/api/v1/diagram-groups/${group.id}`, { color: null, sort_order: 3 });
  expect(patched.body).toMatchObject({ color: null, sort_order: 3, diagram_count: 1 });
  await ok(admin.delete(`/api/v1/diagram-groups/${group.id}`), 204);
  expect((await viewer.get(`${url}/${id}`)).body.group_ids).toEqual([other.id]);
  expect(kinds(await admin.changes(since, 'diagram'))).toEqual([
    'diagram_group.created',
    'diagram_group.created',
    'diagram.updated',
    'diagram_group.updated',
    'diagram.updated',
    'diagram_group.deleted',
  ]);
  await admin.undo();
  expect((await viewer.get(`${url}/${id}`)).body.group_ids).toEqual([other.id, group.id]);
});

it('groups and stars are everybody’s own', async () => {
  const { id } = await d.diagram();
  const starred = await viewer.post(`${url}/${id}/favorite`);
  expect(starred.body).toMatchObject({ diagram_id: id });
  expect((await viewer.post(`${url}/${id}/favorite`)).body).toEqual(starred.body);
  const { body } = await viewer.get(`${url}/favorites`);
  expect(body).toMatchObject({ items: [{ diagram_id: id }], total: 1 });
  expect((await admin.get(`${url}/favorites`)).body.total).toBe(0);
  expect((await viewer.get(`${url}?favorites=true`)).body.items).toMatchObject([{ id, is_favorite: true }]);
  expect((await viewer.get(`${url}/${id}`)).body.is_favorite).toBe(true);
  await ok(viewer.delete(`${url}/${id}/favorite`), 204);
  await viewer.post(`${url}/${id}/favorite`);
  await admin.delete(`${url}/${id}`);
  await admin.undo();
  expect((await viewer.get(`${url}/favorites`)).body.total).toBe(1);
});

it('drawings that no diagram shows are kept for as long as a batch can bring them back', async () => {
  const { id } = await d.diagram({ data: { xml: drawn(await d.card(), 'x') } });
  const { drawing } = await db('diagrams').where({ id }).first('drawing');
  await admin.delete(`${url}/${id}`);
  await deleteUnusedDrawings(db, 15, 100);
  expect(await db('diagram_drawings').where({ id: drawing })).toHaveLength(1);
  await db('diagram_drawings').where({ id: drawing }).update('left_at', db.raw("now() - interval '16 days'"));
  expect(await deleteUnusedDrawings(db, 15, 100)).toBe(1);
  expect(await db('diagram_drawings').where({ id: drawing })).toHaveLength(0);
});
