import { randomUUID } from 'node:crypto';
import { eventKinds, expectProblem, faults, ok, openApp, pluck } from '../../support/harness.ts';
import { merge } from '../cards/merge.fixture.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);

const url = '/api/v1/data-flows';
const card = async (type = 'Application', values: object = {}): Promise<string> =>
  (await admin.card({ type, ...values })).id;
const flow = async (source_id: string, target_id: string, more: object = {}): Promise<string> =>
  (await admin.create(url, { source_id, target_id, ...more })).id;
const flowsOf = async (id: string, query = ''): Promise<string[]> =>
  pluck((await ok(admin.get(`/api/v1/cards/${id}/data-flows${query}`))).items, 'id');
const read = async (id: string) => (await ok(admin.get(`${url}/${id}`))) as Record<string, unknown>;
const archive = (id: string) => ok(admin.post(`/api/v1/cards/${id}/archive`, {}));

describe('a data flow', () => {
  it('is sorted by the frequencies in the order of their setting', async () => {
    const [source_id, target_id] = [await card('Application'), await card('Application')];
    for (const frequency of ['weekly', 'batch', 'daily'])
      await ok(member.post(url, { source_id, target_id, frequency }), 201);
    const sorted = async () =>
      pluck((await ok(viewer.get(`${url}?sort_by=frequency&source_id=${source_id}`))).items, 'frequency');
    expect(await sorted()).toEqual(['daily', 'weekly', 'batch']);
    const setting = '/api/v1/settings/flow-frequencies';
    const { frequencies } = await ok(admin.get(setting));
    await ok(admin.patch(setting, { frequencies: frequencies.toReversed() }));
    expect(await sorted()).toEqual(['batch', 'weekly', 'daily']);
    await ok(admin.patch(setting, { frequencies }));
  });

  it('is created, read, listed, changed and deleted, with an event for each', async () => {
    const [crm, erp] = [
      await card('Application', { name: 'Crm' }),
      await card('Application', { name: 'Erp' }),
    ];
    const [over, customer, order] = [
      await card('Interface', { name: 'Api' }),
      await card('DataObject', { name: 'Customer' }),
      await card('DataObject', { name: 'Order' }),
    ];
    const position = await admin.position();
    const body = { source_id: crm, target_id: erp, interface_id: over, data_object_ids: [order, customer] };
    const values = { frequency: 'daily', description: 'Changed customers', external_id: 'F-1' };
    const made = await ok(member.post(url, { ...body, ...values }), 201);
    expect(made).toMatchObject({
      ...values,
      direction: 'forward',
      source: { id: crm, type: 'Application', name: 'Crm' },
      target: { id: erp, type: 'Application', name: 'Erp' },
      interface: { id: over, type: 'Interface', name: 'Api' },
      data_objects: [
        { id: customer, type: 'DataObject', name: 'Customer' },
        { id: order, type: 'DataObject', name: 'Order' },
      ],
    });
    const one = `${url}/${made.id}`;
    const got = await viewer.get(one);
    expect(got.body).toEqual(made);
    for (const id of [crm, erp, over, customer]) expect(await flowsOf(id)).toEqual([made.id]);
    expect(await flowsOf(crm, '?way=outgoing')).toEqual([made.id]);
    expect(await flowsOf(crm, '?way=incoming')).toEqual([]);
    const listed = async (query: string) =>
      pluck((await ok(viewer.get(`${url}?${query}`))).items, 'id').includes(made.id);
    expect(await listed(`source_id=${crm}&target_id=${erp}&direction=forward&frequency=daily`)).toBe(true);
    expect(await listed(`interface_id=${over}&data_object_id=${order}&card_type=Application`)).toBe(true);
    expect(await listed('search=CHANGED')).toBe(true);
    expect(await listed('sort_by=source&search=f-1')).toBe(true);
    for (const query of [
      `source_id=${erp}`,
      'direction=bidirectional',
      `data_object_id=${crm}`,
      'card_type=Provider',
    ]) {
      expect(await listed(query), query).toBe(false);
    }

    const match = { 'if-match': got.headers.etag! };
    const changed = await ok(
      member.patch(one, { direction: 'bidirectional', interface_id: null, data_object_ids: [order] }, match),
    );
    expect(changed).toMatchObject({
      direction: 'bidirectional',
      interface: null,
      data_objects: [{ id: order }],
    });
    expect(await flowsOf(crm, '?way=incoming')).toEqual([made.id]);
    await expectProblem(member.patch(one, { description: 'x' }, match), 412, 'precondition_failed');
    await ok(member.patch(one, { direction: 'bidirectional' }));
    await ok(member.delete(one), 204);
    await expectProblem(member.get(one), 404, 'not_found');
    await expectProblem(member.patch(one, {}), 404, 'not_found');
    await expectProblem(member.delete(one), 404, 'not_found');
    const events = await admin.changes(position, 'data_flow');
    expect(eventKinds(events, 'data_flow')).toBe('created updated deleted');
    expect(events[0]).toMatchObject({ card_id: crm, peer_card_id: erp });
    expect(events[1]!.data.changes).toEqual({
      direction: { old: 'forward', new: 'bidirectional' },
      interface_id: { old: over, new: null },
      data_object_ids: { old: [customer, order].sort(), new: [order] },
    });
    for (const id of [crm, erp, over, customer]) {
      expect((await admin.get(`/api/v1/cards/${id}/history`)).text).toContain('data_flow.created');
    }
  });

  it('is refused where its cards or values do not fit', async () => {
    const [source_id, target_id] = [await card(), await card()];
    const fault = (more: object) => faults(admin.post(url, { source_id, target_id, ...more }));
    expect(await fault({ target_id: source_id })).toContain('target_id same_card');
    expect(await fault({ target_id: await card('BusinessCapability') })).toContain('target_id card_type');
    expect(await fault({ source_id: randomUUID() })).toContain('source_id unknown_card');
    expect(await fault({ interface_id: target_id })).toContain('interface_id card_type');
    expect(await fault({ data_object_ids: [await card('DataObject'), target_id] })).toContain(
      'data_object_ids.1 card_type',
    );
    expect(await fault({ frequency: 'sometimes' })).toContain('frequency unknown_option');
    const archived = await card();
    await archive(archived);
    expect(await fault({ target_id: archived })).toContain('target_id card_archived');
    await expectProblem(admin.post(url, { source_id, target_id, direction: 'reverse' }), 422);
    await expectProblem(admin.get(`/api/v1/cards/${randomUUID()}/data-flows`), 404, 'not_found');
    const external_id = randomUUID();
    await flow(source_id, target_id, { external_id });
    await expectProblem(admin.post(url, { source_id, target_id, external_id }), 409, 'external_id_taken');
    const other = await flow(target_id, source_id);
    await expectProblem(admin.patch(`${url}/${other}`, { external_id }), 409, 'external_id_taken');
    await expectProblem(viewer.patch(`${url}/${other}`, {}), 403, 'relations.manage');
  });

  it('keeps a frequency that the setting no longer has', async () => {
    const set = (keys: string[]) =>
      ok(
        admin.patch('/api/v1/settings/flow-frequencies', {
          frequencies: keys.map((key) => ({ key, label: key })),
        }),
      );
    await set(['yearly', 'daily']);
    const [source, target] = [await card(), await card()];
    const id = await flow(source, target, { frequency: 'yearly' });
    await set(['daily', 'realTime']);
    expect((await ok(admin.patch(`${url}/${id}`, { description: 'x', frequency: 'yearly' }))).frequency).toBe(
      'yearly',
    );
    expect(
      await faults(admin.post(url, { source_id: source, target_id: target, frequency: 'yearly' })),
    ).toContain('frequency unknown_option');
  });
});

describe('cards that are not seen', () => {
  it('hide the flows of which they are ends, and are left out elsewhere', async () => {
    const made = await admin.create('/api/v1/metamodel/types', {
      ...{ key: 'Vault', label: 'Vault', has_data_flows: true },
    });
    const [source, target, vault] = [await card(), await card(), await card(made.key)];
    const [over, object] = [await card('Interface', { name: 'Hidden api' }), await card('DataObject')];
    const open = await flow(source, target, { interface_id: over, data_object_ids: [object] });
    const secret = await flow(source, vault);
    const position = await admin.position();
    await ok(admin.patch(`${url}/${secret}`, { description: 'secret' }));
    const hide = (is_hidden: boolean) =>
      Promise.all(
        ['Vault', 'Interface', 'DataObject'].map((key) =>
          ok(admin.patch(`/api/v1/metamodel/types/${key}`, { is_hidden })),
        ),
      );
    await hide(true);
    expect(await flowsOf(source)).toEqual([open]);
    expect((await ok(admin.get(`${url}?source_id=${source}`))).total).toBe(1);
    expect((await ok(admin.get(`${url}?source_id=${source}&interface_id=${over}`))).total).toBe(0);
    expect((await ok(admin.get(`${url}?source_id=${source}&data_object_id=${object}`))).total).toBe(0);
    await expectProblem(admin.get(`${url}/${secret}`), 404, 'not_found');
    await expectProblem(admin.patch(`${url}/${secret}`, {}), 404, 'not_found');
    await expectProblem(admin.delete(`${url}/${secret}`), 404, 'not_found');
    expect(await read(open)).toMatchObject({ interface: null, data_objects: [] });
    expect((await admin.get(`/api/v1/changes?after=${position}`)).text).not.toContain('secret');
    // a change retains what its author does not see
    const patched = await ok(admin.patch(`${url}/${open}`, { interface_id: null, data_object_ids: [] }));
    expect(patched).toMatchObject({ interface: null, data_objects: [] });
    await hide(false);
    expect(await read(open)).toMatchObject({ interface: { id: over }, data_objects: [{ id: object }] });
    expect((await flowsOf(source)).toSorted()).toEqual([open, secret].toSorted());
  });

  it('are named to nobody who reads only some cards', async () => {
    const [own, other] = [await card(), await card()];
    const id = await flow(own, other);
    const reader = await t.holding('relations.view', 'relations.manage');
    await db('stakeholders').insert({ card_id: own, user_id: reader.userId, role: 'responsible' });
    await expectProblem(reader.get(`${url}/${id}`), 403, 'inventory.view');
    await expectProblem(reader.get(`/api/v1/cards/${own}/data-flows`), 403, 'inventory.view');
    await expectProblem(reader.patch(`${url}/${id}`, {}), 403, 'inventory.view');
    await expectProblem(reader.post(url, { source_id: own, target_id: other }), 403, 'inventory.view');
    expect((await reader.get(`/api/v1/cards/${own}/history`)).text).not.toContain('data_flow');
  });
});

describe('many data flows', () => {
  it('of one external id that are written at once create one, which the others update', async () => {
    const ends = { source: { id: await card('Application') }, target: { id: await card('Application') } };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        ok(
          member.post(`${url}/bulk`, {
            operations: [{ row_index: 0, ...ends, external_id: 'F-race', description: `by ${n}` }],
          }),
        ),
      ),
    );
    expect(answers.map(({ created, updated }) => created + updated)).toEqual(Array(10).fill(1));
    expect(answers.filter(({ created }) => created === 1)).toHaveLength(1);
  });

  it('are written by references to cards, each like a single one', async () => {
    const [source, target, over] = [
      await card('Application', { external_id: 'B-1' }),
      await card('Application', { name: 'Bulk target' }),
      await card('Interface'),
    ];
    const names = {
      source: { type: 'Application', external_id: 'B-1' },
      target: { type: 'Application', name: 'bulk target' },
    };
    const gone = await flow(source, target);
    const operations = [
      { row_index: 1, ...names, external_id: 'F-7', interface: { id: over }, frequency: 'daily' },
      { row_index: 2, external_id: 'F-7', direction: 'bidirectional' },
      { row_index: 3, id: gone, action: 'delete' },
      { row_index: 4, ...names, target: { id: randomUUID() } },
      { row_index: 5, ...names, frequency: 'never' },
      { row_index: 6, id: randomUUID() },
      { row_index: 7, external_id: 'F-7', frequency: 'daily' },
      { row_index: 8, external_id: 'F-8' },
    ];
    const send = (dry_run: boolean) => ok(member.post(`${url}/bulk`, { operations, dry_run }));
    const expected = {
      created: 1,
      updated: 1,
      deleted: 1,
      unchanged: 1,
      failed: 4,
      results: [
        { status: 'created' },
        { status: 'updated' },
        { status: 'deleted', data_flow_id: gone },
        { status: 'failed', code: 'unknown_card', field: 'target' },
        { status: 'failed', code: 'unknown_option', field: 'frequency' },
        { status: 'failed', code: 'not_found' },
        { status: 'unchanged' },
        { status: 'failed', code: 'required', field: 'source' },
      ],
    };
    expect(await send(true)).toMatchObject({ ...expected, dry_run: true });
    expect(await flowsOf(source)).toEqual([gone]);
    const position = await admin.position();
    expect(await send(false)).toMatchObject(expected);
    const [id] = await flowsOf(source);
    expect(await read(id!)).toMatchObject({
      direction: 'bidirectional',
      frequency: 'daily',
      interface: { id: over },
    });
    expect(eventKinds(await admin.changes(position, 'data_flow'), 'data_flow')).toBe('created deleted');
    await admin.undo();
    expect(await flowsOf(source)).toEqual([gone]);
  });
});

describe('data flows of changed cards', () => {
  it('are left out of lists while an end is archived, and come back', async () => {
    const [source, target, over] = [await card(), await card(), await card('Interface')];
    const id = await flow(source, target, { interface_id: over });
    await archive(over);
    expect((await read(id)).interface).toBeNull();
    await archive(target);
    expect(await flowsOf(source)).toEqual([]);
    expect((await read(id)).target).toMatchObject({ id: target });
    await ok(admin.post(`/api/v1/cards/${target}/restore`, {}));
    await ok(admin.post(`/api/v1/cards/${over}/restore`, {}));
    expect(await flowsOf(source)).toEqual([id]);
    expect((await read(id)).interface).toMatchObject({ id: over });
  });

  it('are deleted with an end and lose a deleted interface and data object; undo brings all back', async () => {
    const [source, target, over] = [await card(), await card(), await card('Interface')];
    const [first, second] = [await card('DataObject'), await card('DataObject')];
    const id = await flow(source, target, { interface_id: over, data_object_ids: [first, second] });
    const before = await read(id);
    await ok(admin.delete(`/api/v1/cards/${over}`));
    await ok(admin.delete(`/api/v1/cards/${first}`));
    expect(await read(id)).toMatchObject({ interface: null, data_objects: [{ id: second }] });
    await admin.undo();
    expect(await read(id)).toMatchObject({ interface: null, data_objects: before.data_objects });
    await ok(admin.delete(`/api/v1/cards/${target}`));
    await expectProblem(admin.get(`${url}/${id}`), 404, 'not_found');
    await admin.undo();
    expect(await flowsOf(source)).toEqual([id]);
  });

  it('move with a merge, except those between the merged cards, and come back with its undoing', async () => {
    const [survivor, gone, other] = [await card(), await card(), await card()];
    const [kept, lost, inner] = [
      await flow(survivor, other),
      await flow(gone, other),
      await flow(gone, survivor),
    ];
    const position = await admin.position();
    const merged = await ok(merge(admin, survivor, [gone]));
    expect(merged.moved).toMatchObject({ 'data flow': 1 });
    expect((await flowsOf(survivor)).toSorted()).toEqual([kept, lost].toSorted());
    await expectProblem(admin.get(`${url}/${inner}`), 404, 'not_found');
    expect(eventKinds(await admin.changes(position, 'data_flow'), 'data_flow')).toBe('deleted updated');
    await ok(admin.post(`/api/v1/card-merges/${merged.merge_id}/undo`));
    expect((await flowsOf(gone)).toSorted()).toEqual([lost, inner].toSorted());

    const [customer, client] = [await card('DataObject'), await card('DataObject')];
    const both = await flow(gone, other, { data_object_ids: [customer, client] });
    const objects = await ok(merge(admin, customer, [client]));
    expect((await read(both)).data_objects).toMatchObject([{ id: customer }]);
    await ok(admin.post(`/api/v1/card-merges/${objects.merge_id}/undo`));
    expect(pluck((await read(both)).data_objects as { id: string }[], 'id').toSorted()).toEqual(
      [customer, client].toSorted(),
    );
  });
});

describe('suggested data flows', () => {
  it('follow from relations of interfaces where senders and receivers are known, and are created as they are', async () => {
    const [a, b, c, d] = [await card(), await card(), await card(), await card()];
    const object = await card('DataObject');
    const over = async (uses: [string, string | null][]) => {
      const id = await card('Interface');
      for (const [source, flowDirection] of uses) {
        await admin.relate('relAppToInterface', source, id, {
          attributes: flowDirection ? { flowDirection } : {},
        });
      }
      return id;
    };
    const one = await over([
      [a, 'forward'],
      [b, 'reverse'],
    ]);
    await admin.relate('relInterfaceToDataObj', one, object);
    const fan = await over([
      [a, 'forward'],
      [b, 'reverse'],
      [c, 'reverse'],
      [d, null],
    ]);
    const both = await over([
      [a, 'bidirectional'],
      [d, 'bidirectional'],
    ]);
    // who sends to whom is not known
    await over([
      [a, 'forward'],
      [b, 'forward'],
      [c, 'reverse'],
      [d, 'reverse'],
    ]);
    const read = async () => (await ok(viewer.get(`${url}/suggested?page_size=200`))).items;
    const brief = (items: Awaited<ReturnType<typeof read>>) =>
      items
        .map((item: Record<string, { id: string }>) => [
          item.source!.id,
          item.target!.id,
          item.interface!.id,
          item.direction,
        ])
        .toSorted();
    const items = await read();
    const [first, last] = [a, d].toSorted();
    expect(brief(items)).toEqual(
      [
        [a, b, one, 'forward'],
        [a, b, fan, 'forward'],
        [a, c, fan, 'forward'],
        [first, last, both, 'bidirectional'],
      ].toSorted(),
    );
    expect(
      items.find((item: { interface: { id: string } }) => item.interface.id === one).data_objects,
    ).toMatchObject([{ id: object }]);
    const operations = items.map((item: object, row_index: number) => ({ row_index, ...item }));
    expect(await ok(member.post(`${url}/bulk`, { operations }))).toMatchObject({ created: 4, failed: 0 });
    expect(await read()).toEqual([]);
  });
});
