import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { remoteStaleReason } from '../../../../integrations/exchange/itsm/engine/apply.rows.ts';
import { isLocalEcho, isRemoteEcho } from '../../../../integrations/exchange/itsm/engine/fields.ts';
import type { Observation, Pair } from '../../../../integrations/exchange/itsm/engine/model.types.ts';
import type { Plan } from '../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { applyChanges, emptySyncState } from '../../../../integrations/exchange/itsm/engine/state.ts';
import { fieldErrors } from '../../../../integrations/exchange/itsm/mappings/mapping.settings.ts';
import type { RecordLookup } from '../../../../integrations/exchange/itsm/remote.ts';
import { mappedField } from './mapping.support.ts';
import { recordsToLookUp, remap, type Scorer, unmap } from './memory.plans.ts';
import {
  card,
  type Given,
  mapping,
  NOW,
  observationOf,
  pair,
  planned,
  planRows,
  record,
  summarize,
  syncStateOf,
} from './plans.ts';

describe('a side that is gone', () => {
  const cards = [card('c1', 'a')];
  const syncState = syncStateOf(pair('r1', 'c1', 'a'));

  it('is proved by a tombstone, by a lookup, or by several full reads', async () => {
    const quarantine = ['quarantine c1 r1'];
    expect(await planRows(syncState, { cards, kind: 'delta', tombstones: ['r1'] })).toEqual(quarantine);
    expect(await planRows(syncState, { cards, lookups: [['r1', { kind: 'gone' }]] })).toEqual(quarantine);
    const read = (absences: number) =>
      planned(syncStateOf(pair('r1', 'c1', 'a', { absences })), { cards }, mapping({ complete_reads: 3 }));
    expect(summarize(await read(0))).toEqual(['skip c1 r1']);
    expect((await read(0)).closing.absences).toEqual({ r1: 1 });
    expect(summarize(await read(1))).toEqual(['skip c1 r1']);
    expect(summarize(await read(2))).toEqual(quarantine);
  });

  it('is not proved by a delta, a filter or an inconclusive lookup', async () => {
    const counting = mapping({ filter_query: 'name=a', complete_reads: 1 });
    expect(await planRows(syncState, { cards, kind: 'delta' })).toEqual([]);
    expect(await planRows(syncState, { cards }, counting)).toEqual(['skip c1 r1']);
    expect(await planRows(syncState, { cards, lookups: [['r1', { kind: 'unknown' }]] })).toEqual([
      'skip c1 r1',
    ]);
    const there: RecordLookup = { kind: 'there', record: record('r1', 'changed') };
    expect(await planRows(syncState, { cards, lookups: [['r1', there]] }, counting)).toEqual(['skip c1 r1']);
    expect(await planRows(syncState, { cards, lookups: [['r1', there]] })).toEqual(['update local c1 r1']);
  });

  it('is not proved if it is both returned and reported as deleted; a lookup decides', async () => {
    const records = [record('r1', 'a')];
    expect(await planRows(syncState, { cards, records, tombstones: ['r1'] })).toEqual(['skip c1 r1']);
    expect(recordsToLookUp(syncState, observationOf({ records, tombstones: ['r1'] }).remote)).toEqual(['r1']);
    expect(recordsToLookUp(syncState, observationOf({}).remote)).toEqual(['r1']);
    expect(recordsToLookUp(syncState, observationOf({ kind: 'delta' }).remote)).toEqual([]);
  });

  it('is proved by several full reads also if lookups are inconclusive, but not if a lookup finds it', async () => {
    const counting = mapping({ complete_reads: 2 });
    const read = (absences: number, look: RecordLookup, state?: Pair['state']) =>
      planned(
        syncStateOf(pair('r1', 'c1', 'a', { absences, ...(state && { state }) })),
        { cards, lookups: [['r1', look]] },
        counting,
      );
    const unanswered: RecordLookup = { kind: 'unknown' };
    expect(summarize(await read(0, unanswered))).toEqual(['skip c1 r1']);
    expect((await read(0, unanswered)).closing.absences).toEqual({ r1: 1 });
    expect(summarize(await read(1, unanswered))).toEqual(['quarantine c1 r1']);
    const shown = await read(1, { kind: 'there', record: record('r1', 'a') });
    expect([summarize(shown), shown.closing.absences]).toEqual([[], { r1: 0 }]);
    const waiting = { kind: 'quarantined', gone: 'remote', since: '2026-06-01T11:58:00.000Z' } as const;
    const proved = (await read(1, unanswered, { ...waiting, evidence: 'readings' })).rows[0]!;
    expect(proved.action).toBe('delete');
    const state = { kind: 'unknown', message: 'it is not shown' } as const;
    expect(remoteStaleReason(counting, proved, state)).toBeNull();
    expect(remoteStaleReason(counting, proved, { kind: 'there', record: record('r1', 'a') })).not.toBeNull();
    const called = (await read(1, unanswered, { ...waiting, evidence: 'tombstone' })).rows[0]!;
    expect(called.action).toBe('delete');
    expect(remoteStaleReason(counting, called, state)).not.toBeNull();
  });

  it('is quarantined, released when it exists again, and removed after the quarantine', async () => {
    const waiting = (since: string) =>
      syncStateOf(
        pair('r1', 'c1', 'a', { state: { kind: 'quarantined', gone: 'remote', evidence: 'look', since } }),
      );
    const lookups: [string, RecordLookup][] = [['r1', { kind: 'gone' }]];
    expect(await planRows(waiting('2026-06-01T11:59:30.000Z'), { cards, lookups })).toEqual(['skip c1 r1']);
    const late = await planned(waiting('2026-06-01T11:58:00.000Z'), { cards, lookups });
    expect(summarize(late)).toEqual(['delete local c1 r1']);
    expect(late.rows[0]?.expects.record).toEqual({ there: false, fields: {} });
    expect(await planRows(waiting(NOW), { cards, records: [record('r1', 'a')] })).toEqual(['release c1 r1']);
    const moved = [card('c1', 'b')];
    expect(await planRows(waiting('2026-06-01T11:58:00.000Z'), { cards: moved, lookups })).toEqual([
      'conflict c1 r1',
    ]);
  });

  it('is quarantined while a user has to decide about a change, whichever side wins', async () => {
    const moved = [card('c1', 'b')];
    const lookups: [string, RecordLookup][] = [['r1', { kind: 'gone' }]];
    const first = await planned(syncState, { cards: moved, lookups });
    expect(summarize(first)).toEqual(['conflict c1 r1', 'quarantine c1 r1']);
    const [{ old: local, new: remote } = { old: null, new: null }] = Object.values(first.rows[0]!.diff);
    const since = '2026-06-01T11:58:00.000Z';
    const state = { kind: 'quarantined', gone: 'remote', evidence: 'look', since } as const;
    const answered = (winner: 'local' | 'remote') => {
      const resolutions = [{ remoteId: 'r1', path: null, winner, values: { local, remote } }];
      return planRows(syncStateOf(pair('r1', 'c1', 'a', { state })), {
        cards: moved,
        lookups,
        over: { resolutions },
      });
    };
    expect(await answered('remote')).toEqual(['delete local c1 r1']);
    expect(await answered('local')).toEqual(['unlink c1 r1']);
  });

  it('is quarantined, but not removed, while columns are hidden from the account', async () => {
    const { remote } = observationOf({ cards, lookups: [['r1', { kind: 'gone' }]] });
    const given = { cards, over: { remote: { ...remote, hiddenColumns: true } } };
    expect(await planRows(syncState, given)).toEqual(['skip c1 r1', 'quarantine c1 r1']);
    const since = '2026-06-01T11:58:00.000Z';
    const state = { kind: 'quarantined', gone: 'remote', evidence: 'look', since } as const;
    expect(await planRows(syncStateOf(pair('r1', 'c1', 'a', { state })), given)).toEqual(['skip c1 r1']);
  });

  it('removes its counterpart only by the policy', async () => {
    const lookups: [string, RecordLookup][] = [['r1', { kind: 'gone' }]];
    const by = (mode: Mapping['sync_mode'], origin: Pair['origin'], direction?: Mapping['sync_direction']) =>
      planRows(
        syncStateOf(pair('r1', 'c1', 'a', { origin })),
        { cards, lookups },
        mapping({ sync_mode: mode, sync_direction: direction ?? 'bidirectional' }),
      );
    expect(await by('additive', 'pulled')).toEqual(['unlink c1 r1']);
    expect(await by('conservative', 'linked')).toEqual(['unlink c1 r1']);
    expect(await by('conservative', 'pushed')).toEqual(['unlink c1 r1']);
    expect(await by('conservative', 'pulled')).toEqual(['quarantine c1 r1']);
    expect(await by('strict', 'pushed')).toEqual(['quarantine c1 r1']);
    expect(await by('strict', 'pulled', 'push')).toEqual(['unlink c1 r1']);
  });

  it('is not created again if its counterpart was retained', async () => {
    const kept = syncStateOf(pair('r1', 'c1', 'a', { state: { kind: 'ended', gone: 'remote' } }));
    expect(await planRows(kept, { cards })).toEqual([]);
    expect(await planRows(kept, { cards, records: [record('r1', 'a')] })).toEqual(['release c1 r1']);
    const other = syncStateOf(pair('r1', 'c1', 'a', { state: { kind: 'ended', gone: 'local' } }));
    expect(await planRows(other, { records: [record('r1', 'a')] })).toEqual([]);
  });

  it('stops a plan that exceeds the deletion limit', async () => {
    const many = Array.from({ length: 10 }, (_, at) => at);
    const all = syncStateOf(...many.map((at) => pair(`r${at}`, `c${at}`, 'a')));
    const given = (count: number): Given => ({
      cards: many.map((at) => card(`c${at}`, 'a')),
      records: many.slice(count).map((at) => record(`r${at}`, 'a')),
      lookups: many.slice(0, count).map((at) => [`r${at}`, { kind: 'gone' }]),
    });
    const limits = (maxCount: number, maxRatio: number) =>
      mapping({ max_deletions: maxCount, max_deletion_ratio: maxRatio });
    expect((await planned(all, given(5), limits(100, 0.5))).stopped).toBeNull();
    expect((await planned(all, given(6), limits(100, 0.5))).stopped).toMatch('6 removals among 10 pairs');
    expect((await planned(all, given(3), limits(2, 1))).stopped).toMatch('more than the 2');
  });
});

describe('matching', () => {
  it('is by the identity fields, and staged if they match more than one card', async () => {
    const given = { cards: [card('c1', 'x', 'K1')], records: [record('r1', 'x', ' k1 ')] };
    expect((await planRows(emptySyncState(), given))[0]).toBe('link c1 r1');
    const twice = { ...given, cards: [card('c1', 'x', 'K1'), card('c2', 'y', 'K1')] };
    expect(await planRows(emptySyncState(), twice)).toEqual(['stage r1']);
    const two = { ...given, records: [record('r1', 'x', 'K1'), record('r2', 'y', 'K1')] };
    expect(await planRows(emptySyncState(), two)).toEqual(['stage r1', 'stage r2']);
    const bound = syncStateOf(pair('r9', 'c1', 'x'));
    expect(await planRows(bound, { ...given, kind: 'delta' })).toContain('stage r1');
  });

  it('is by similarity only if it is certain and mutual', async () => {
    const given = {
      cards: [card('c1', 'x'), card('c2', 'y')],
      records: [record('r1', 'x'), record('r2', 'y')],
    };
    const scored = (...pairs: [string, string, 'match' | 'possible'][]): Scorer => {
      const all = pairs.map(([remoteId, cardId, verdict]) => ({
        remoteId,
        cardId,
        verdict,
        score: 0.9,
        reason: 'the names are alike',
      }));
      return () => all;
    };
    const by = async (score: Scorer) =>
      (await planRows(emptySyncState(), given, mapping(), score)).filter((one) =>
        /^(link|stage|create)/.test(one),
      );
    expect(await by(scored(['r1', 'c1', 'match'], ['r2', 'c2', 'match']))).toEqual([
      'link c1 r1',
      'link c2 r2',
    ]);
    const unsure = ['stage r1', 'create local r2', 'create remote c2'];
    expect(await by(scored(['r1', 'c1', 'possible']))).toEqual(unsure);
    const claimed = await by(scored(['r1', 'c1', 'match'], ['r2', 'c1', 'match']));
    expect(claimed).toEqual(['stage r1', 'stage r2', 'create remote c2']);
  });

  it("follows a user's decision", async () => {
    const given = { cards: [card('c1', 'x')], records: [record('r1', 'y')] };
    const decisions = [{ remoteId: 'r1', cardId: 'c1' }];
    expect((await planRows(emptySyncState(), { ...given, over: { decisions } }))[0]).toBe('link c1 r1');
  });

  it('follows merges of cards, and writes nothing to the alias record', async () => {
    const redirects: [string, string][] = [['c1', 'c2']];
    const cards = [card('c2', 'b')];
    const records = [record('r1', 'a'), record('r2', 'b')];
    const moved = syncStateOf(pair('r1', 'c1', 'a'));
    expect(await planRows(moved, { cards, records: [record('r1', 'a')], redirects })).toEqual([
      'update remote c2 r1',
    ]);
    const both = syncStateOf(pair('r1', 'c1', 'a'), pair('r2', 'c2', 'b'));
    expect(await planRows(both, { cards, records, redirects })).toEqual(['skip c2 r1']);
    expect(
      await planRows(both, { cards, records: [record('r1', 'a')], redirects, tombstones: ['r2'] }),
    ).toEqual(['skip c2 r1', 'unlink c2 r2']);
  });

  it('excludes an un-mapped card until it is mapped again', async () => {
    const syncState = syncStateOf(pair('r1', 'c1', 'a'));
    const given = { cards: [card('c1', 'b')], records: [record('r1', 'a')] };
    applyChanges(syncState, unmap(syncState, 'c1', new Map()));
    expect(await planRows(syncState, given)).toEqual([]);
    remap(syncState, 'r1');
    expect(await planRows(syncState, given)).toEqual(['update remote c1 r1']);
  });
});

it('a card remains a review item while the record with the same identity is not read', async () => {
  const waiting = [card('c2', 'y', 'K1')];
  const agreed = { 'attributes.key': { local: 'K1', remote: 'K1' } };
  const states: Pair['state'][] = [
    { kind: 'linked' },
    { kind: 'quarantined', gone: 'local', evidence: 'inventory', since: NOW },
    { kind: 'ended', gone: 'local' },
    { kind: 'unmapped' },
  ];
  for (const state of states) {
    const syncState = syncStateOf(pair('r1', 'c1', 'a', { state, base: agreed }));
    const delta = await planned(syncState, { cards: waiting, kind: 'delta' });
    expect(summarize(delta).filter((row) => row.includes('c2'))).toEqual(['stage c2']);
    expect(delta.closing.again).toContain('r1');
    const gone = await planned(syncState, { cards: waiting, kind: 'delta', tombstones: ['r1'] });
    expect(summarize(gone)).toContain('create remote c2');
  }
  const ended = syncStateOf(pair('r1', 'c1', 'a', { state: { kind: 'ended', gone: 'local' } }));
  const linked = await planned(ended, { cards: waiting, kind: 'delta', records: [record('r1', 'a', 'K1')] });
  expect(summarize(linked)[0]).toBe('link c2 r1');
});

it('the record of an open review item is read again', async () => {
  const cards = [card('c1', 'a', 'K0'), card('c2', 'y', 'K1')];
  const given: Given = { cards, kind: 'delta', records: [record('r1', 'a', 'K1')] };
  // the base does not contain the new identity of the record yet, only the record does
  const agreed = { 'attributes.key': { local: 'K0', remote: 'K0' } };
  const first = await planned(syncStateOf(pair('r1', 'c1', 'a', { base: agreed })), given);
  expect(summarize(first)).toContain('stage c2');
  expect(first.closing.again).toContain('r1');
});

it('own writes equal the base, and are not changes', async () => {
  const agreed = pair('r1', 'c1', 'a');
  expect(isRemoteEcho(mapping(), agreed, record('r1', 'a'))).toBe(true);
  expect(isRemoteEcho(mapping(), agreed, record('r1', 'b'))).toBe(false);
  expect(isLocalEcho(mapping(), agreed, card('c1', 'a'))).toBe(true);
  expect(isLocalEcho(mapping(), agreed, card('c1', 'b'))).toBe(false);
});

describe('relations', () => {
  const of = mapping({
    relations: [
      { relation_type_key: 'uses', remote_type: 'Depends on', reversed: false, target_mapping_id: null },
    ],
  });
  const link = { relationType: 'uses', source: 'r1', target: 'r2' };
  const cards = [card('c1', 'a'), card('c2', 'b')];
  const local = [{ relationType: 'uses', source: 'c1', target: 'c2' }];
  const plan = (
    base: boolean,
    links: Observation['links'],
    direction: Mapping['sync_direction'] = 'bidirectional',
  ) => {
    const syncState = syncStateOf(pair('r1', 'c1', 'a'), pair('r2', 'c2', 'b'));
    if (base) applyChanges(syncState, [{ op: 'link', link }]);
    return planRows(
      syncState,
      { cards, kind: 'delta', over: { links } },
      { ...of, sync_direction: direction },
    );
  };

  it('are added where they are missing, and removed if the other side has removed them', async () => {
    expect(await plan(false, { local, remote: [] })).toEqual(['relate remote']);
    expect(await plan(false, { local: [], remote: [link] })).toEqual(['relate local']);
    expect(await plan(true, { local, remote: [] })).toEqual(['unrelate local']);
    expect(await plan(true, { local: [], remote: [link] })).toEqual(['unrelate remote']);
    expect(await plan(false, { local, remote: [link] })).toEqual(['relate']);
    expect(await plan(true, { local: [], remote: [] })).toEqual(['unrelate']);
    expect(await plan(true, { local, remote: [link] })).toEqual([]);
  });

  it('are deferred while a side at an end is gone, in the plan that finds it gone and in later ones', async () => {
    const gone: [string, RecordLookup][] = [['r2', { kind: 'gone' }]];
    const state = { kind: 'quarantined', gone: 'remote', evidence: 'look', since: NOW } as const;
    for (const base of [false, true]) {
      for (const [before, first] of [
        [syncStateOf(pair('r1', 'c1', 'a'), pair('r2', 'c2', 'b')), ['quarantine c2 r2']],
        [syncStateOf(pair('r1', 'c1', 'a'), pair('r2', 'c2', 'b', { state })), ['skip c2 r2']],
      ] as const) {
        const syncState = structuredClone(before);
        if (base) applyChanges(syncState, [{ op: 'link', link }]);
        const given: Given = { cards, kind: 'delta', lookups: gone, over: { links: { local, remote: [] } } };
        const { rows } = await planned(syncState, given, of);
        expect(summarize({ rows } as Plan)).toEqual([...first, 'skip']);
        expect(rows.at(-1)).toMatchObject({ link, side: null, cards: null });
        expect(rows.at(-1)!.reason).toMatch(
          `The relation was ${base ? 'removed at the remote' : 'added here'}, but is deferred: one side of the pair of record r2`,
        );
      }
    }
  });

  it('are retained if the mapping does not write that side', async () =>
    expect(await plan(false, { local, remote: [] }, 'pull')).toEqual([]));
});

it('a mapping reports invalid fields', async () => {
  expect(fieldErrors(mapping())).toEqual([]);
  const [name, end, note] = mapping().fields;
  const oneWay = mappedField(note!.card_field, note!.remote_field, {
    transform_type: 'expression',
    transform_config: { to_local: 'x', to_remote: null },
  });
  const fields = fieldErrors(mapping({ fields: [end!, end!, oneWay] })).map(({ field }) => field);
  expect(fields).toEqual(['field_mappings.1.card_field', 'field_mappings.1.remote_field', 'field_mappings']);
  const boolean = mappedField(name!.card_field, name!.remote_field, {
    transform_type: 'boolean',
    transform_config: { yes: ['1'], no: ['1'] },
  });
  expect(fieldErrors(mapping({ fields: [boolean] })).map(({ field }) => field)).toEqual([
    'field_mappings.0.transform_config',
  ]);
});
