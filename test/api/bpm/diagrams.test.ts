import { randomUUID } from 'node:crypto';
import { cleanUp } from '../../../domain/app/housekeeping.ts';
import { postFile } from '../../support/forms.ts';
import { expectInvalid, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { merge } from '../cards/merge.fixture.ts';
import { chain, definitions, rich } from './models.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);

const card = async (type = 'BusinessProcess', name: string = randomUUID()): Promise<string> =>
  (await admin.card({ type, name })).id;
const of = (process: string) => `/api/v1/bpm/processes/${process}`;
const save = async (process: string, bpmn_xml: string, more: object = {}, client = member) =>
  await ok(client.put(`${of(process)}/diagram`, { bpmn_xml, ...more }));
async function elements(process: string): Promise<Record<string, { id: string; application_id: string }>> {
  const { body } = await viewer.get(`${of(process)}/elements?page_size=200`);
  return Object.fromEntries(
    body.items.map((item: { bpmn_element_id: string }) => [item.bpmn_element_id, item]),
  );
}
async function link(process: string, element: string, body: object, client = member) {
  const { id } = (await elements(process))[element]!;
  return await ok(client.put(`${of(process)}/elements/${id}`, body));
}
const relations = async (process: string): Promise<{ id: string; type: string; target_id: string }[]> =>
  (await db.raw('select id, type, target_id from relations where source_id = ? order by type', [process]))
    .rows;
const told = async (since: string, client = viewer): Promise<string[]> =>
  pluck(await client.changes(since), 'event_type');

describe('a diagram', () => {
  it('is saved to the letter as version after version, read, listed and exported', async () => {
    const process = await card('BusinessProcess', 'Order to "Cash"');
    expect((await viewer.get(`${of(process)}/diagram`)).body).toBeNull();
    const since = await admin.position();
    const sent = `\ufeff${rich.replace('\n', '\r\n')}<!-- end -->`;
    const first = await save(process, sent);
    expect(first).toMatchObject({
      process_id: process,
      version: 1,
      element_count: 10,
      dry_run: false,
      warnings: [],
    });
    expect(first.elements_added).toHaveLength(10);
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><title>T</title></svg>';
    expect(await save(process, chain({ a: 'A' }), { svg_thumbnail: svg })).toMatchObject({
      version: 2,
      element_count: 1,
    });
    expect(await told(since)).toEqual(['process_diagram.saved', 'process_diagram.saved']);
    expect((await viewer.get(`${of(process)}/diagram`)).body).toMatchObject({
      version: 2,
      bpmn_xml: chain({ a: 'A' }),
      svg_thumbnail: svg,
      created_by: member.userId,
    });
    const old = await viewer.get(`${of(process)}/diagram?version=1`);
    expect(old.body).toMatchObject({ id: first.id, bpmn_xml: sent, svg_thumbnail: null, element_count: 10 });
    const { body } = await viewer.get(`${of(process)}/diagram/versions`);
    expect(pluck(body.items, 'version')).toEqual([2, 1]);

    const file = await viewer.get(`${of(process)}/diagram/export/bpmn?version=1`);
    expect(file.raw.equals(Buffer.from(sent))).toBe(true);
    expect(file.headers).toMatchObject({
      'content-type': 'application/xml; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="Order to \\"Cash\\".bpmn"`,
    });
    const known = { 'if-none-match': file.headers.etag! };
    await ok(viewer.get(`${of(process)}/diagram/export/bpmn?version=1`, known), 304);
    const own = await viewer.get(`${of(process)}/diagram/export/svg`);
    expect(own.text).toBe(svg);
    expect(own.headers['content-security-policy']).toContain('sandbox');
    expect(own.headers['content-disposition']).toMatch(/^attachment/);
    expect((await viewer.get(`${of(process)}/diagram/export/svg?version=1`)).text).toContain('>Check the<');
    await expectProblem(viewer.get(`${of(process)}/diagram/export/bpmn?version=9`), 404, 'not_found');
    await expectProblem(viewer.get(`${of(process)}/diagram?version=9`), 404, 'not_found');
  });

  it('is imported in any encoding, and comes back byte for byte', async () => {
    const process = await card();
    const text = chain({ a: 'Prüfen' });
    const latin = Buffer.from(text.replace('UTF-8', 'ISO-8859-1'), 'latin1');
    for (const [bytes, charset] of [
      [latin, 'iso-8859-1'],
      [Buffer.from(`\ufeff${text.replace('UTF-8', 'UTF-16')}`, 'utf16le'), 'utf-16'],
      [Buffer.from(text), 'utf-8'],
    ] as const) {
      await ok(postFile(member, `${of(process)}/diagram/import`, 'model.bpmn', bytes));
      const back = await viewer.get(`${of(process)}/diagram/export/bpmn`);
      expect(back.raw.equals(bytes)).toBe(true);
      expect(back.headers['content-type']).toBe(`application/xml; charset=${charset}`);
      expect((await viewer.get(`${of(process)}/elements`)).body.items[0].name).toBe('Prüfen');
    }
    await expectInvalid(
      postFile(member, `${of(process)}/diagram/import`, 'model.bpmn', 'no model'),
      'file format',
    );
  });

  it('is tried before it is saved, with the very same outcome', async () => {
    const [process, crm] = [await card(), await card('Application')];
    await save(process, chain({ a: 'A', b: 'B' }));
    await link(process, 'a', { application_id: crm });
    const since = await admin.position();
    const bpmn_xml = chain({ b: 'B changed', c: 'C' });
    const tried = await save(process, bpmn_xml, { dry_run: true });
    expect(await told(since)).toEqual([]);
    const done = await save(process, bpmn_xml);
    expect({ ...tried, id: done.id, dry_run: false }).toEqual(done);
    expect(tried.id).toBeNull();
    expect(done).toMatchObject({
      version: 2,
      element_count: 2,
      elements_added: [{ bpmn_element_id: 'c' }],
      elements_removed: [{ bpmn_element_id: 'a', name: 'A' }],
      elements_changed: [{ bpmn_element_id: 'b', name: 'B changed' }],
      links_removed: 1,
      relations_created: 0,
      relations_removed: 1,
    });
  });

  it('is deleted with versions, links and the relations that came with them, and brought back', async () => {
    const [process, crm] = [await card(), await card('Application')];
    await save(process, chain({ a: 'A' }));
    await save(process, chain({ a: 'A', b: 'B' }));
    await link(process, 'a', { application_id: crm });
    const before = await elements(process);
    const answer = await member.delete(`${of(process)}/diagram`);
    expect(answer.body).toEqual({ ok: true, versions_removed: 2, links_removed: 1, relations_removed: 1 });
    expect((await viewer.get(`${of(process)}/diagram`)).body).toBeNull();
    expect((await viewer.get(`${of(process)}/elements`)).body.items).toEqual([]);
    await expectProblem(member.delete(`${of(process)}/diagram`), 404, 'not_found');
    await admin.undo();
    expect(await elements(process)).toEqual(before);
    expect(await relations(process)).toHaveLength(1);
  });

  it('is refused where it does not fit', async () => {
    const process = await card();
    const put = (body: object, at = process) => member.put(`${of(at)}/diagram`, body);
    const bpmn_xml = chain({ a: 'A' });
    const entities = '<!DOCTYPE l [<!ENTITY a "ha">]><l>&a;</l>';
    await expectInvalid(put({ bpmn_xml: entities }), 'bpmn_xml format');
    await expectInvalid(put({ bpmn_xml, svg_thumbnail: '<svg onload="x()"/>' }), 'svg_thumbnail format');
    await expectProblem(put({}), 422);
    await expectProblem(put({ bpmn_xml }, await card('Application')), 404, 'not_found');
    await expectProblem(put({ bpmn_xml }, randomUUID()), 404, 'not_found');
    await expectProblem(viewer.get(`${of(await card('Application'))}/diagram`), 404, 'not_found');
    // nobody without the right has models read
    await expectProblem(viewer.put(`${of(process)}/diagram`, { bpmn_xml: entities }), 403, 'forbidden');
    await save(process, bpmn_xml);
    const { headers } = await viewer.get(`${of(process)}/diagram`);
    await save(process, bpmn_xml);
    const stale = member.put(`${of(process)}/diagram`, { bpmn_xml }, { 'if-match': headers.etag! });
    await expectProblem(stale, 412, 'precondition_failed');
    await admin.post(`/api/v1/cards/${process}/archive`);
    await expectProblem(put({ bpmn_xml }), 409, 'wrong_state');
  });

  it('is kept for as long as it may be shown', async () => {
    const process = await card();
    await save(process, definitions(`<!-- ${randomUUID()} -->`));
    const { content_id: id } = await db('process_diagrams')
      .where({ process_id: process })
      .first('content_id');
    const clean = async () => {
      await db('process_contents').where({ id }).update('used_at', new Date('2020-01-01'));
      await cleanUp(db, t.services.blobs, new AbortController().signal);
      return (await db('process_contents').where({ id })).length;
    };
    expect(await clean()).toBe(1);
    await member.delete(`${of(process)}/diagram`);
    expect(await clean()).toBe(0);
  });
});

describe('an element', () => {
  it('is linked, filtered, kept over saves, and related', async () => {
    const [process, crm, data, host] = [
      await card(),
      await card('Application', 'CRM'),
      await card('DataObject', 'Customer'),
      await card('ITComponent', 'Host'),
    ];
    await save(process, rich);
    const { id } = (await elements(process)).check!;
    const since = await admin.position();
    const body = {
      application_id: crm,
      data_object_id: data,
      it_component_id: host,
      custom_fields: { minutes: 5 },
    };
    const linked = await link(process, 'check', body);
    expect(linked).toMatchObject({
      id,
      ...body,
      application_name: 'CRM',
      data_object_name: 'Customer',
      lane_name: 'Desk',
    });
    expect(await told(since)).toEqual([
      'process_element_link.created',
      'relation.created',
      'relation.created',
      'relation.created',
    ]);
    const types = (await relations(process)).map(({ type }) => type);
    expect(types).toEqual(['relProcessToApp', 'relProcessToDataObj', 'relProcessToITC']);
    const list = await viewer.get(`${of(process)}/elements?linked=true&search=check&element_type=userTask`);
    expect(list.body.items).toEqual([linked]);
    expect((await viewer.get(`${of(process)}/elements?linked=false`)).body.total).toBe(9);
    await save(process, chain({ x: 'X', check: 'Check it' }));
    expect((await elements(process)).check).toMatchObject({ id, name: 'Check it', application_id: crm });
    // what is absent is linked no more
    const changed = await link(process, 'check', { application_id: crm });
    expect(changed).toMatchObject({ application_id: crm, data_object_id: null, custom_fields: null });
    expect(await relations(process)).toHaveLength(1);
    await admin.undo();
    expect((await elements(process)).check).toMatchObject(body);
    expect(await relations(process)).toHaveLength(3);
  });

  it('takes back only relations that came with links and that nobody has written on', async () => {
    const [process, crm, erp] = [await card(), await card('Application'), await card('Application')];
    await save(process, chain({ a: 'A', b: 'B' }));
    const byHand = await admin.post('/api/v1/relations', {
      type: 'relProcessToApp',
      source_id: process,
      target_id: crm,
    });
    await link(process, 'a', { application_id: crm });
    await link(process, 'a', {});
    expect(await relations(process)).toMatchObject([{ id: byHand.body.id }]);
    await link(process, 'a', { application_id: erp });
    await link(process, 'b', { application_id: erp });
    await link(process, 'a', {});
    expect(await relations(process)).toHaveLength(2);
    const made = (await relations(process)).find(({ target_id }) => target_id === erp)!;
    await admin.patch(`/api/v1/relations/${made.id}`, { description: 'Seen.' });
    await link(process, 'b', {});
    expect(await relations(process)).toHaveLength(2);
    // one that somebody has deleted does not come back with a save
    await link(process, 'b', { application_id: erp });
    await admin.delete(`/api/v1/relations/${made.id}`);
    await save(process, chain({ b: 'B' }));
    expect(await relations(process)).toHaveLength(1);
  });

  it('is refused cards that are none, of other types or archived', async () => {
    const [process, gone] = [await card(), await card('Application')];
    await save(process, chain({ a: 'A' }));
    await admin.post(`/api/v1/cards/${gone}/archive`);
    const { id } = (await elements(process)).a!;
    const put = (body: object, element = id) => member.put(`${of(process)}/elements/${element}`, body);
    await expectInvalid(
      put({ application_id: randomUUID(), data_object_id: process, it_component_id: null }),
      'application_id unknown_card',
      'data_object_id end_type',
    );
    await expectInvalid(put({ application_id: gone }), 'application_id end_archived');
    await expectInvalid(put({ custom_fields: { a: 'x'.repeat(20_000) } }), 'custom_fields too_long');
    await expectProblem(put({ custom_fields: { a: '\0' } }), 422);
    await expectProblem(put({}, randomUUID()), 404, 'not_found');
    const { rows } = await db.raw(`insert into roles (key, label, permissions) values ('drawer', 'Drawer',
        '{"bpm.edit": true, "bpm.view": true, "inventory.view": true}') returning key`);
    const drawer = await t.as(rows[0].key);
    await expectProblem(
      drawer.put(`${of(process)}/elements/${id}`, { application_id: await card('Application') }),
      403,
      'relations.manage',
    );
    await ok(drawer.put(`${of(process)}/elements/${id}`, { custom_fields: { a: 1 } }));
  });

  it('loses a card that is deleted, follows one that is merged, and hides what the reader does not see', async () => {
    const [process, crm, erp] = [await card(), await card('Application'), await card('Application')];
    await save(process, chain({ a: 'A', b: 'B' }));
    await link(process, 'a', { application_id: crm });
    await link(process, 'b', { application_id: erp });
    await admin.post(`/api/v1/cards/${crm}/archive`);
    const since = await admin.position();
    await ok(admin.delete(`/api/v1/cards/${crm}`));
    expect(await told(since)).toContain('process_element_link.updated');
    expect((await elements(process)).a!.application_id).toBeNull();
    await admin.undo();
    expect((await elements(process)).a!.application_id).toBe(crm);

    const survivor = await card('Application', 'Survivor');
    const merged = await merge(admin, survivor, [erp]);
    const { b } = await elements(process);
    expect(b).toMatchObject({ application_id: survivor, application_name: 'Survivor' });
    expect((await relations(process)).map(({ target_id }) => target_id)).toContain(survivor);
    await ok(admin.post(`/api/v1/card-merges/${merged.body.merge_id}/undo`));
    expect((await elements(process)).b!.application_id).toBe(erp);
  });

  it('goes with its process, and stays where processes are merged', async () => {
    const [kept, gone, crm] = [await card(), await card(), await card('Application')];
    await save(kept, chain({ a: 'Kept' }));
    await save(gone, chain({ a: 'Gone' }));
    await save(gone, chain({ a: 'Gone again' }));
    await link(gone, 'a', { application_id: crm });
    const merged = await merge(admin, kept, [gone]);
    // its own diagram stays in front, with its own links
    expect((await elements(kept)).a).toMatchObject({ name: 'Kept', application_id: null });
    expect((await viewer.get(`${of(kept)}/diagram/versions`)).body.total).toBe(3);
    expect(await save(kept, chain({ a: 'Newer' }))).toMatchObject({ version: 3 });
    expect((await elements(kept)).a).toMatchObject({ name: 'Newer' });
    await admin.undo();
    await ok(admin.post(`/api/v1/card-merges/${merged.body.merge_id}/undo`));
    expect((await elements(gone)).a).toMatchObject({ name: 'Gone again', application_id: crm });

    const empty = await card();
    await merge(admin, empty, [gone]);
    expect((await elements(empty)).a).toMatchObject({ name: 'Gone again', application_id: crm });
    expect(await save(empty, chain({ a: 'Gone on' }))).toMatchObject({ version: 3 });
    expect((await elements(empty)).a).toMatchObject({ name: 'Gone on', application_id: crm });
    await admin.post(`/api/v1/cards/${empty}/archive`);
    await ok(admin.delete(`/api/v1/cards/${empty}`));
    expect(await db('process_diagrams').where({ process_id: empty })).toEqual([]);
    await admin.undo();
    expect((await elements(empty)).a).toMatchObject({ name: 'Gone on', application_id: crm });
  });
});
