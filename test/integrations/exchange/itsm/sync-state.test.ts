import fc from 'fast-check';
import { lockSyncState } from '../../../../domain/exchange/itsm/itsm.load.ts';
import { createCards } from '../../../../domain/inventory/cards/bulk/bulk.create.ts';
import { archiveCard } from '../../../../domain/inventory/cards/cards.archive.ts';
import { patchCard } from '../../../../domain/inventory/cards/cards.write.ts';
import { mergeCards } from '../../../../domain/inventory/cards/merge/merge.command.ts';
import { createRelation, deleteRelation } from '../../../../domain/inventory/relations/relations.commands.ts';
import type {
  Pair,
  PairState,
  StateChange,
} from '../../../../integrations/exchange/itsm/engine/model.types.ts';
import { applyChanges, emptySyncState } from '../../../../integrations/exchange/itsm/engine/state.ts';
import { openCards } from '../../../../integrations/exchange/itsm/port/local.cards.ts';
import { storeChanges } from '../../../../integrations/exchange/itsm/store/sync-state.ts';
import { inTransaction } from '../../../../platform/database.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { mappingOf } from './histories/landscape.ts';
import { mappedField } from './mapping.support.ts';
import { loadSyncState, storeMapping } from './stored.ts';

const t = closeAfterAll(await createTestServices());
const ctx = await t.ctx();
let mappings = 0;

const newMapping = async () => {
  mappings += 1;
  const mapping = {
    card_type_key: 'Application',
    remote_table: 'cmdb_ci_appl',
    sync_direction: 'bidirectional',
  } as const;
  return (await storeMapping(t.services.db, mapping, { url: `https://remote${mappings}.example` })).mappingId;
};
const store = (mappingId: string, changes: StateChange[]) =>
  inTransaction(t.services.db, async (sql) => {
    await lockSyncState(sql, mappingId);
    await storeChanges(sql, mappingId, changes);
  });
const make = async (names: string[], lifecycle = {}) => {
  const rows = names.map((name, row_index) => ({ row_index, type: 'Application', name, lifecycle }));
  return (await createCards(ctx, rows, false)).results.map(({ id }) => id!);
};
const pair = (remoteId: string, cardId: string): Pair => ({
  remoteId,
  cardId,
  origin: 'linked',
  state: { kind: 'linked' },
  base: {},
  absences: 0,
});

const since = '2026-01-01T00:00:00.000Z';
const remoteId = fc.constantFrom('r1', 'r2', 'r3', 'r4');
const value = fc.constantFrom(null, 'a', 'b', 7, true, ['x']);
const path = fc.constantFrom('name', 'attributes.x');
const agreed = fc.record({ local: value, remote: value });
const state = fc.constantFrom<PairState>(
  { kind: 'linked' },
  { kind: 'unmapped' },
  { kind: 'ended', gone: 'local' },
  { kind: 'quarantined', gone: 'remote', evidence: 'look', since },
);
const link = fc.record({ relationType: fc.constant('runs'), source: remoteId, target: remoteId });
const change: fc.Arbitrary<StateChange> = fc.oneof(
  fc.record({
    op: fc.constant('pair' as const),
    pair: fc.record({
      remoteId,
      cardId: fc.constantFrom('01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002'),
      origin: fc.constantFrom('pulled', 'pushed', 'linked'),
      state,
      base: fc.dictionary(path, agreed, { noNullPrototype: true }),
      absences: fc.nat(3),
    }),
  }),
  fc.record({ op: fc.constant('drop' as const), remoteId }),
  fc.record({
    op: fc.constant('base' as const),
    remoteId,
    base: fc.dictionary(path, fc.option(agreed), { noNullPrototype: true }),
  }),
  fc.record({ op: fc.constant('state' as const), remoteId, state }),
  fc.record({ op: fc.constant('absences' as const), remoteId, absences: fc.nat(3) }),
  fc.record({ op: fc.constantFrom('link' as const, 'unlink' as const), link }),
);

it('a stored sync state equals the sync state in memory, however its changes are combined', async () => {
  const mappingId = await newMapping();
  const syncState = emptySyncState();
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 20 }), fc.boolean(), async (changes, twice) => {
      applyChanges(syncState, structuredClone(changes));
      await store(mappingId, changes);
      if (twice) await store(mappingId, changes);
      if (twice) applyChanges(syncState, structuredClone(changes));
      expect((await loadSyncState(t.services.db, mappingId)).syncState).toEqual(syncState);
    }),
    { numRuns: 30 },
  );
});

it('a stored sync state is read in parts, with all pairs of merged cards', async () => {
  const mappingId = await newMapping();
  const [kept, merged, other] = await make(['kept', 'merged', 'other']);
  await store(mappingId, [
    { op: 'pair', pair: pair('r1', kept!) },
    { op: 'pair', pair: pair('r2', merged!) },
    { op: 'pair', pair: pair('r3', other!) },
    { op: 'link', link: { relationType: 'runs', source: 'r2', target: 'r3' } },
  ]);
  await mergeCards(ctx, { survivor_id: kept!, merged_ids: [merged!], dry_run: false });
  for (const choice of [{ remoteIds: ['r1'] }, { cardIds: [merged!] }, { cardIds: [kept!] }]) {
    const part = await loadSyncState(t.services.db, mappingId, choice);
    expect([...part.syncState.pairs.keys()]).toEqual(['r1', 'r2']);
    expect(part.redirects).toEqual(new Map([[merged, kept]]));
    expect(part.syncState.links.size).toBe(1);
  }
  expect((await loadSyncState(t.services.db, mappingId)).redirects).toEqual(new Map([[merged, kept]]));
});

describe('the card reader', () => {
  const mapping = {
    ...mappingOf({ rules: [], deletion: 'strict', quarantine: 0, hasLookups: true } as never),
    fields: ['name', 'description', 'lifecycle.active', 'attributes.vendor', 'parent_id'].map((path) =>
      mappedField(path, path),
    ),
  };

  it('returns the mapped values, and whether a card matches the filter', async () => {
    const [first, second] = await make(['seen one', 'unseen'], { active: '2026-03-01' });
    const cards = await openCards(ctx, mapping, 'name = "seen one"');
    const seen = await cards.byIds(t.services.db, [first!, second!]);
    expect(seen.get(first!)).toEqual({
      id: first,
      type: 'Application',
      archived: false,
      fields: {
        name: 'seen one',
        description: null,
        'lifecycle.active': '2026-03-01',
        'attributes.vendor': null,
        parent_id: null,
      },
      inFilter: true,
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(seen.get(second!)?.inFilter).toBe(false);
    await archiveCard(ctx, first!, {});
    expect((await cards.byIds(t.services.db, [first!])).get(first!)?.archived).toBe(true);
    expect(await cards.page(t.services.db, null, 10)).toEqual([]);
  });

  it('returns pages of cards, and those changed after a position', async () => {
    const cards = await openCards(ctx, mapping, null);
    const from = await cards.changedAfter(t.services.db, '0', 10_000);
    const ids = await make(['w1', 'w2', 'w3']);
    await patchCard(ctx, ids[1]!, { description: 'new' });
    const walked = [];
    for (let after: string | null = null; ; ) {
      const chunk: { id: string }[] = await cards.page(t.services.db, after, 2);
      walked.push(...chunk.map(({ id }) => id));
      if (chunk.length < 2) break;
      after = chunk.at(-1)!.id;
    }
    expect(walked.slice(-3)).toEqual(ids);
    const part = await cards.changedAfter(t.services.db, from.position, 2);
    expect(part).toMatchObject({ ids: ids.slice(0, 2), more: true });
    const rest = await cards.changedAfter(t.services.db, part.position, 10);
    expect(rest).toMatchObject({ ids: [ids[2], ids[1]], more: false });
    const moments = await cards.changedAt(t.services.db, ids, ['name', 'description']);
    expect(Object.keys(moments.get(ids[0]!)!)).toEqual(['name']);
    const { name, description } = moments.get(ids[1]!)!;
    expect(Date.parse(description!)).toBeGreaterThanOrEqual(Date.parse(name!));
  });

  it.each(['relations', 'reverse_relations'])('tells when %s were last created or deleted', async (side) => {
    const path = `${side}.relAppSuccessor`;
    const reader = await openCards(ctx, { ...mapping, fields: [mappedField(path, path)] }, null);
    const [own, other] = await make([`own ${side}`, `other ${side}`]);
    const changedAt = async () => (await reader.changedAt(t.services.db, [own!], [path])).get(own!)?.[path];
    expect(await changedAt()).toBeUndefined();
    const [source_id, target_id] = side === 'relations' ? [own!, other!] : [other!, own!];
    const { id } = await createRelation(ctx, { type: 'relAppSuccessor', source_id, target_id });
    const created = await changedAt();
    expect(created).toMatch(/Z$/);
    await deleteRelation(ctx, id);
    expect(Date.parse((await changedAt())!)).toBeGreaterThanOrEqual(Date.parse(created!));
    expect(await changedAt()).toBe(
      (
        await t.services.db('events').where({ relation_id: id }).orderBy('position', 'desc').first()
      ).at.toISOString(),
    );
  });
});
