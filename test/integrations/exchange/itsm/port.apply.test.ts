import { lockSyncState } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { createCards } from '../../../../domain/inventory/cards/bulk/bulk.create.ts';
import { patchCard } from '../../../../domain/inventory/cards/cards.write.ts';
import { mergeCards } from '../../../../domain/inventory/cards/merge/merge.command.ts';
import type { Connector } from '../../../../integrations/exchange/itsm/connectors/connector.ts';
import type { StateChange } from '../../../../integrations/exchange/itsm/engine/model.types.ts';
import { emptyRow } from '../../../../integrations/exchange/itsm/engine/state.ts';
import { applyRun } from '../../../../integrations/exchange/itsm/port/apply.run.ts';
import { undoRun } from '../../../../integrations/exchange/itsm/runs/run.undo.ts';
import { storeChanges } from '../../../../integrations/exchange/itsm/store/sync-state.ts';
import { inTransaction } from '../../../../platform/database.ts';
import { startServiceNow } from '../../../emulators/servicenow/server.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { created, createdRecord, type Draft, pair, pulled, pushed } from './drafts.ts';
import { mappedField, plainMapping } from './mapping.support.ts';
import { unmap } from './memory.plans.ts';
import { connect } from './remote.ts';
import { invertRows, loadSyncState, storeMapping, storePlan } from './stored.ts';

const table = 'cmdb_ci_linux_server';
const t = closeAfterAll(await createTestServices());
const ctx = await t.ctx();
const instance = closeAfterAll(await startServiceNow({ clock: createVirtualClock() }));
let remote: Connector;
let mapping: Mapping;
let connectionId: string;
let mappings = 0;

beforeEach(async () => {
  mappings += 1;
  remote = connect(instance);
  const plain = plainMapping({ remote_table: table });
  const stored = await storeMapping(t.services.db, plain, { url: `https://apply${mappings}.example` });
  connectionId = stored.connectionId;
  mapping = {
    ...plain,
    id: stored.mappingId,
    fields: [
      mappedField('name', 'name'),
      mappedField('description', 'short_description'),
      mappedField('parent_id', 'os'),
    ],
  };
});
afterEach(async () => {
  instance.heal();
  await remote.close();
});

const plan = (drafts: Draft[], more: Parameters<typeof storePlan>[2] = {}) =>
  storePlan(
    t.services.db,
    {
      connectionId,
      mapping,
      rows: drafts.map((draft, no) => ({ ...emptyRow, reason: 'as tested', ...draft, no })),
    },
    more,
  );
const apply = (runId: string, options: Parameters<typeof applyRun>[2] = {}, connector = remote) =>
  applyRun({ ctx, connector, signal: new AbortController().signal, lockRun: async () => {} }, runId, options);
const ends = async (runId: string) =>
  (await t.services.db('itsm_plan_rows').where({ run_id: runId }).orderBy('no')).map(
    ({ progress, message }) => (message === null ? progress : `${progress}: ${message}`),
  );
const put = (changes: StateChange[]) =>
  inTransaction(t.services.db, async (sql) => {
    await lockSyncState(sql, mapping.id);
    await storeChanges(sql, mapping.id, changes);
  });
const make = async (...names: string[]) => {
  const rows = names.map((name, row_index) => ({ row_index, type: 'Application', name }));
  return (await createCards(ctx, rows, false)).results.map(({ id }) => id!);
};
const elsewhere = (name: string) => instance.elsewhere.insert(table, { name, os: 'x' }).values.sys_id!;

describe('local rows', () => {
  it('are written in a batch; a refused row does not affect the others', async () => {
    const [taken, moved, below] = await make('taken here', 'moved', 'below');
    const ids = ['made one', 'Taken here', 'unfit', 'made two', 'Made Two', 'beneath', 'x'].map(elsewhere);
    await put([pair(ids[4]!, moved!), pair(ids[5]!, below!), pair(ids[6]!, taken!)]);
    const runId = await plan([
      created(ids[0]!, 'made one'),
      created(ids[1]!, 'Taken here'),
      created(ids[2]!, 'unfit', { 'attributes.nonsense': '1' }),
      created(ids[3]!, 'made two'),
      pulled(ids[4]!, moved!, 'moved', 'Made Two'),
      pulled(ids[5]!, below!, 'below', 'beneath'),
      { action: 'skip', reason: 'nothing to do' },
      { ...pulled(ids[6]!, taken!, 'another name', 'x') },
    ]);
    expect((await apply(runId)).counts).toMatchObject({ applied: 4, refused: 2, skipped: 1, stale: 1 });
    expect(await ends(runId)).toEqual([
      'applied',
      expect.stringMatching(/^refused: .*this name/),
      expect.stringMatching(/^applied: Not written: attributes.nonsense/),
      'applied',
      expect.stringMatching(/^refused: .*this name/),
      'applied',
      'skipped: nothing to do',
      "stale: 'name' is 'taken here' here now, instead of 'another name'.",
    ]);
    const { syncState } = await loadSyncState(t.services.db, mapping.id);
    expect(syncState.pairs.get(ids[0]!)).toMatchObject({
      origin: 'pulled',
      base: { name: { local: 'made one', remote: 'made one' } },
    });
    expect([syncState.pairs.has(ids[1]!), syncState.pairs.has(ids[2]!)]).toEqual([false, true]);
    const events = await t.services.db('events').where({ batch_id: runId }).orderBy('position');
    const types = events.map(({ event_type }) => event_type);
    expect(types).toEqual([...Array(3).fill('card.created'), 'card.updated']);
    const [batch] = await t.services.db('mutation_batches').where({ id: runId });
    expect(batch.tool_name).toBe('itsm sync');
    // applying it again changes nothing
    expect((await apply(runId)).counts).toMatchObject({ applied: 4, refused: 2 });
  });

  it('are written in their order, in chunks', async () => {
    const names = ['lane 1', 'lane 2', 'lane same', 'lane 3', 'lane 4', 'Lane Same'];
    const ids = names.map(elsewhere);
    const related = (source: number, target: number): Draft => ({
      action: 'relate',
      side: 'local',
      link: { relationType: 'relAppSuccessor', source: ids[source]!, target: ids[target]! },
    });
    const ring = [related(0, 1), related(1, 3), related(3, 4), related(4, 0), related(0, 3), related(1, 4)];
    const runId = await plan([...names.map((name, n) => created(ids[n]!, name)), ...ring]);
    expect((await apply(runId, { chunk: 3 })).counts).toMatchObject({ applied: 11, refused: 1 });
    const found = await ends(runId);
    const refused = found.filter((end) => end !== 'applied');
    expect(refused).toEqual([expect.stringMatching(/^refused: .*this name/)]);
    expect([2, 5]).toContain(found.indexOf(refused[0]!));
    const { syncState } = await loadSyncState(t.services.db, mapping.id);
    expect([syncState.pairs.size, syncState.links.size]).toEqual([5, 6]);
    const events = await t.services.db('events').where({ batch_id: runId }).orderBy('position');
    const kinds = events.map(({ event_type }) => event_type);
    expect(kinds).toEqual([...Array(5).fill('card.created'), ...Array(6).fill('relation.created')]);
    expect((await apply(runId, { chunk: 3 })).counts).toMatchObject({ applied: 11, refused: 1 });
    expect(await t.services.db('events').where({ batch_id: runId })).toHaveLength(11);
  });

  it('depend on each other, and omit cycles', async () => {
    const [first, second, third] = await make('p1', 'p2', 'p3');
    const ids = ['p1', 'p2', 'p3'].map(elsewhere);
    const below = (n: number, card: string, parent: string): Draft => ({
      action: 'update',
      side: 'local',
      remoteId: ids[n]!,
      cardId: card,
      needs: n,
      diff: { parent_id: { old: null, new: parent } },
      expects: { pair: 'linked', card: { there: true, fields: { parent_id: null } } },
      agreed: { parent_id: { local: parent, remote: 'x' } },
    });
    const cards = [first!, second!, third!];
    const runId = await plan([
      ...cards.map((cardId, n): Draft => ({ action: 'link', remoteId: ids[n]!, cardId, origin: 'linked' })),
      below(0, first!, second!),
      below(1, second!, first!),
      below(2, third!, first!),
      { action: 'delete', side: 'local', cardId: first!, expects: { card: { there: true, fields: {} } } },
    ]);
    await apply(runId);
    expect(await ends(runId)).toEqual([
      'applied',
      'applied',
      'applied',
      'applied',
      'refused: parent_id is the card itself or one of its descendants',
      'applied',
      expect.stringMatching(/^refused: .*1 child/),
    ]);
    const { syncState } = await loadSyncState(t.services.db, mapping.id);
    expect(syncState.pairs.get(ids[2]!)!.base).toEqual({ parent_id: { local: first, remote: 'x' } });
  });

  it('archive, restore, relate and unrelate cards by the rules of the API', async () => {
    const [one, two] = await make('goes', 'stays');
    const rows = [{ row_index: 0, type: 'ITComponent', name: 'component' }];
    const component = (await createCards(ctx, rows, false)).results[0]!.id!;
    const link = { relationType: 'appToITC', source: 'r1', target: 'r2' };
    const { rows: types } = await t.services.db.raw(`select key from relation_types
        where source_type_key = 'Application' and target_type_key = 'ITComponent' limit 1`);
    link.relationType = types[0].key;
    const cards = { relationType: link.relationType, source: two!, target: component };
    const runId = await plan([
      { action: 'delete', side: 'local', cardId: one!, expects: { card: { there: true, fields: {} } } },
      { action: 'relate', side: 'local', link, cards },
    ]);
    await apply(runId);
    expect(await ends(runId)).toEqual(['applied', 'applied']);
    expect((await loadSyncState(t.services.db, mapping.id)).syncState.links.size).toBe(1);
    const back = await plan([
      { action: 'unrelate', side: 'local', link, cards },
      { action: 'restore', side: 'local', cardId: one!, expects: { card: { there: false, fields: {} } } },
    ]);
    await apply(back);
    expect(await ends(back)).toEqual(['applied', 'applied']);
    expect((await loadSyncState(t.services.db, mapping.id)).syncState.links.size).toBe(0);
    expect((await t.services.db('cards').where({ id: one! }).first()).status).toBe('ACTIVE');
  });

  it('end as stale if the record has changed since it was read, or cards were merged or un-mapped', async () => {
    const [still, gone, apart] = await make('still', 'gone', 'apart');
    const [r1, r2, r3] = ['new still', 'new gone', 'new apart'].map(elsewhere);
    await put([pair(r1!, still!), pair(r2!, gone!), pair(r3!, apart!)]);
    const watermark = new Date(instance.clock.now() - 60_000).toISOString();
    const runId = await plan(
      [
        pulled(r1!, still!, 'still', 'new still'),
        pulled(r2!, gone!, 'gone', 'new gone'),
        pulled(r3!, apart!, 'apart', 'new apart'),
      ],
      { watermark },
    );
    instance.elsewhere.update(r1!, { name: 'newer still' });
    await mergeCards(ctx, { survivor_id: apart!, merged_ids: [gone!], dry_run: false });
    const { syncState, redirects } = await loadSyncState(t.services.db, mapping.id, { cardIds: [apart!] });
    await put(unmap(syncState, apart!, redirects));
    await apply(runId);
    expect(await ends(runId)).toEqual([
      "stale: 'name' is 'newer still' at the remote now, instead of 'new still'.",
      'stale: The pair is unmapped instead of linked.',
      'stale: The pair is unmapped instead of linked.',
    ]);
  });
});

describe('remote rows', () => {
  const names = (...ids: string[]) => ids.map((id) => instance.store.rows.get(id)?.values.name);

  it('need one read of all their records and one request each', async () => {
    const cards = await make('a2', 'b2', 'c2', 'd2');
    const ids = ['a1', 'b1', 'c1', 'd1'].map(elsewhere);
    await put(ids.map((id, n) => pair(id, cards[n]!)));
    instance.elsewhere.update(ids[1]!, { name: 'b1 changed' });
    await patchCard(ctx, cards[2]!, { name: 'c3' });
    const runId = await plan([
      ...['a', 'b', 'c', 'd'].map((name, n) => pushed(ids[n]!, cards[n]!, `${name}1`, `${name}2`)),
      createdRecord((await make('fresh'))[0]!, 'fresh'),
    ]);
    const calls = remote.calls();
    await apply(runId);
    expect(await ends(runId)).toEqual([
      'applied',
      "stale: 'name' is 'b1 changed' at the remote now, instead of 'b1'.",
      "stale: 'name' is 'c3' here now, instead of 'c2'.",
      'applied',
      'applied',
    ]);
    expect(remote.calls() - calls).toBe(4);
    expect(names(ids[0]!, ids[3]!)).toEqual(['a2', 'd2']);
    const made = (await t.services.db('itsm_plan_rows').where({ run_id: runId, no: 4 }).first()).made_id;
    expect((await loadSyncState(t.services.db, mapping.id)).syncState.pairs.get(made)).toMatchObject({
      origin: 'pushed',
      base: { name: { remote: 'fresh' } },
    });
  });

  it('resume after a kill between request and response: executed writes are not sent again', async () => {
    const cards = await make('k1 new', 'k2 new', 'k3 new');
    const ids = ['k1', 'k2', 'k3'].map(elsewhere);
    await put(ids.map((id, n) => pair(id, cards[n]!)));
    const runId = await plan(ids.map((id, n) => pushed(id, cards[n]!, `k${n + 1}`, `k${n + 1} new`)));
    let sent = 0;
    const dying: Connector = {
      ...remote,
      async update(...args) {
        const answer = await remote.update(...args);
        sent += 1;
        if (sent === 2) throw new Error('killed');
        return answer;
      },
    };
    await expect(apply(runId, { concurrency: 1 }, dying)).rejects.toThrow('killed');
    expect((await ends(runId)).sort()).toEqual(['applied', 'started', 'started']);
    const before = instance.writes.length;
    await apply(runId);
    expect(await ends(runId)).toEqual(['applied', 'applied', 'applied']);
    expect(instance.writes.length - before).toBe(1);
    expect(names(...ids)).toEqual(['k1 new', 'k2 new', 'k3 new']);
  });

  it('find a record that was created before a kill', async () => {
    const [card] = await make('once');
    const runId = await plan([createdRecord(card!, 'once')]);
    const dying: Connector = {
      ...remote,
      async create(...args) {
        await remote.create(...args);
        throw new Error('killed');
      },
    };
    await expect(apply(runId, {}, dying)).rejects.toThrow('killed');
    await apply(runId);
    expect(await ends(runId)).toEqual(['applied']);
    const made = instance.store.ids(table).filter((id) => names(id)[0] === 'once');
    expect(made).toHaveLength(1);
    expect([...(await loadSyncState(t.services.db, mapping.id)).syncState.pairs.keys()]).toEqual(made);
  });

  it('are not sent while they are undecided, or if they were rejected', async () => {
    const cards = await make('w1 new', 'w2 new');
    const ids = ['w1', 'w2'].map(elsewhere);
    await put(ids.map((id, n) => pair(id, cards[n]!)));
    const runId = await plan(
      ids.map((id, n) => pushed(id, cards[n]!, `w${n + 1}`, `w${n + 1} new`)),
      { approvals: [null, 'rejected'] },
    );
    expect((await apply(runId)).counts).toMatchObject({ pending: 2, applied: 0 });
    await t.services.db('itsm_plan_rows').where({ run_id: runId, no: 0 }).update({ approval: 'approved' });
    expect((await apply(runId)).counts).toMatchObject({ pending: 1, applied: 1 });
    expect(names(...ids)).toEqual(['w1 new', 'w2']);
  });
});

it('a run that is undone restores both sides and the sync state, except later changes', async () => {
  const { db } = t.services;
  const [here, there, touched] = await make('here', 'there new', 'touched');
  const [r1, r2, r3, r4] = ['here new', 'there', 'touched new', 'born'].map(elsewhere);
  const base = (local: string, remote: string) => ({ name: { local, remote } });
  await put([
    pair(r1!, here!, base('here', 'here')),
    pair(r2!, there!, base('there', 'there')),
    pair(r3!, touched!, base('touched', 'touched')),
  ]);
  const before = (await loadSyncState(db, mapping.id)).syncState.pairs;
  const was = (draft: Draft, name: string): Draft => ({ ...draft, before: base(name, name) });
  const runId = await plan([
    was(pulled(r1!, here!, 'here', 'here new'), 'here'),
    was(pushed(r2!, there!, 'there', 'there new'), 'there'),
    was(pulled(r3!, touched!, 'touched', 'touched new'), 'touched'),
    created(r4!, 'born'),
  ]);
  expect((await apply(runId)).counts).toMatchObject({ applied: 4 });
  await patchCard(ctx, touched!, { name: 'touched again' });
  const backId = await undoRun(ctx, runId);
  await invertRows(ctx, backId);
  await apply(backId);
  expect(await ends(backId)).toEqual([
    'applied',
    "stale: 'name' is 'touched again' here now, instead of 'touched new'.",
    'applied',
    'applied',
  ]);
  const after = (await loadSyncState(db, mapping.id)).syncState.pairs;
  expect([after.get(r1!), after.get(r2!)]).toEqual([before.get(r1!), before.get(r2!)]);
  expect(after.has(r4!)).toBe(false);
  expect(instance.store.rows.get(r2!)!.values.name).toBe('there');
  expect((await db('cards').where({ id: here! }).first()).name).toBe('here');
  expect((await db('cards').where({ name: 'born' }).first()).status).toBe('ARCHIVED');
  await expect(undoRun(ctx, runId)).rejects.toMatchObject({ code: 'wrong_state' });
  await expect(undoRun(ctx, await plan([]))).rejects.toMatchObject({ code: 'wrong_state' });
});
