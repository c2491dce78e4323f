import fc from 'fast-check';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type {
  LocalCard,
  Observation,
  Pair,
  PairState,
  SyncState,
} from '../../../../integrations/exchange/itsm/engine/model.types.ts';
import type { PlanRow } from '../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { emptySyncState, linkKey } from '../../../../integrations/exchange/itsm/engine/state.ts';
import type { RecordLookup, RemoteRecord } from '../../../../integrations/exchange/itsm/remote.ts';
import { evaluate, mappingOf } from './histories/landscape.ts';
import { planInMemory, type Scorer } from './memory.plans.ts';

const NOW = '2026-06-01T12:00:00.000Z';
const KEYS = ['k0', 'k1', 'k2', 'k3', null] as const;

const mapping = (direction: Mapping['sync_direction'], filtered: boolean): Mapping => ({
  ...mappingOf({ rules: ['newest_wins', 'manual', 'remote_leads'] }),
  sync_direction: direction,
  filter_query: filtered ? 'name=a' : null,
  relations: [
    { relation_type_key: 'uses', remote_type: 'Depends on', reversed: false, target_mapping_id: null },
  ],
});

/** A record and a card by number, with their states and the state of their pair. */
const spot = fc.record({
  pair: fc.constantFrom('none', 'linked', 'quarantined', 'ended local', 'ended remote', 'unmapped'),
  card: fc.constantFrom('none', 'there', 'changed', 'archived', 'out_of_scope', 'merged'),
  record: fc.constantFrom('unread', 'same', 'changed', 'gone', 'missing', 'both', 'merged'),
  key: fc.nat(KEYS.length - 1),
  otherKey: fc.nat(KEYS.length - 1),
  decision: fc.constantFrom('none', 'none', 'none', 'new', 'next'),
  links: fc.subarray(['base', 'local', 'remote']),
});
type Spot = typeof spot extends fc.Arbitrary<infer T> ? T : never;
const world = fc.record({
  spots: fc.array(spot, { minLength: 1, maxLength: 12 }),
  kind: fc.constantFrom('complete' as const, 'delta' as const),
  direction: fc.constantFrom('pull' as const, 'push' as const, 'bidirectional' as const),
  filtered: fc.boolean(),
  chunk: fc.integer({ min: 1, max: 4 }),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

const rid = (at: number) => `r${String(at).padStart(2, '0')}`;
const cid = (at: number) => `c${String(at).padStart(2, '0')}`;

const states: Record<string, PairState> = {
  linked: { kind: 'linked' },
  quarantined: { kind: 'quarantined', gone: 'remote', evidence: 'look', since: '2026-05-01T00:00:00.000Z' },
  'ended local': { kind: 'ended', gone: 'local' },
  'ended remote': { kind: 'ended', gone: 'remote' },
  unmapped: { kind: 'unmapped' },
};

function build({ spots, kind }: World): { syncState: SyncState; seen: Observation } {
  const syncState = emptySyncState();
  const cards = new Map<string, LocalCard>();
  const redirects = new Map<string, string>();
  const records: RemoteRecord[] = [];
  const lookups = new Map<string, RecordLookup>();
  const seen: Observation = {
    remote: { kind, records, tombstones: [], lookups, watermark: NOW },
    local: { cards, redirects },
    links: { local: [], remote: [] },
    resolutions: [],
    decisions: [],
    now: NOW,
    remoteClockAheadMs: 0,
  };
  const next = (at: number) => (at + 1) % spots.length;
  for (const [at, one] of spots.entries()) place(one, at);
  return { syncState, seen };

  function place(one: Spot, at: number): void {
    const [remoteId, cardId] = [rid(at), cid(at)];
    const [key, otherKey] = [KEYS[one.key] ?? null, KEYS[one.otherKey] ?? null];
    const state = states[one.pair];
    if (state) {
      const none = { local: null, remote: null };
      const base: Pair['base'] = {
        name: { local: 'a', remote: 'a' },
        'attributes.end': none,
        'attributes.note': none,
      };
      base['attributes.key'] = { local: key, remote: key };
      syncState.pairs.set(remoteId, { remoteId, cardId, origin: 'pulled', state, base, absences: 0 });
    }
    if (one.card === 'merged' && at > 0) redirects.set(cardId, cid(at - 1));
    else if (one.card !== 'none') {
      const fields = {
        name: one.card === 'changed' ? 'b' : 'a',
        'attributes.key': otherKey,
        'relations.relRememberedAt': one.otherKey === 2 ? cid(next(at)) : null,
      };
      const archived = one.card === 'archived';
      const inFilter = one.card !== 'out_of_scope';
      cards.set(cardId, { id: cardId, type: 'Application', archived, fields, inFilter, updatedAt: NOW });
    }
    const tombstone = { table: 'cmdb_ci_appl', id: remoteId, at: NOW };
    if (one.record === 'same' || one.record === 'changed' || one.record === 'both') {
      const name = { value: one.record === 'same' ? 'a' : 'c' };
      const place = { value: one.otherKey === 3 ? rid(next(at)) : '' };
      const fields = { name, u_key: { value: key ?? '' }, u_place: place };
      const record = { table: 'cmdb_ci_appl', id: remoteId, fields, updatedAt: NOW };
      records.push(record);
      if (one.record === 'both') {
        seen.remote.tombstones.push(tombstone);
        if (one.key > 0) lookups.set(remoteId, { kind: 'there', record });
      }
    } else if (one.record === 'gone') seen.remote.tombstones.push(tombstone);
    else if (one.record === 'missing') lookups.set(remoteId, { kind: one.key > 1 ? 'gone' : 'unknown' });
    else if (one.record === 'merged') {
      seen.remote.tombstones.push({ ...tombstone, mergedInto: rid(next(at)) });
    }
    if (one.decision !== 'none')
      seen.decisions.push({ remoteId, cardId: one.decision === 'new' ? null : cid(next(at)) });
    const link = { relationType: 'uses', source: remoteId, target: rid(next(at)) };
    if (one.links.includes('base')) syncState.links.set(linkKey(link), link);
    const local = { relationType: 'uses', source: cardId, target: cid(next(at)) };
    if (one.links.includes('local')) seen.links!.local.push(local);
    if (one.links.includes('remote')) seen.links!.remote.push(link);
  }
}

/** Rows in a comparable form without their numbers. */
function comparable(rows: readonly PlanRow[]): string[] {
  const byNo = new Map(rows.map((row) => [row.no, row]));
  return rows
    .map(({ no: _, needs, ...row }) => {
      const needed = needs === null ? null : byNo.get(needs);
      return JSON.stringify([row, needed && [needed.action, needed.remoteId, needed.cardId]]);
    })
    .sort();
}

/** Scores the similarity by the last digit of the ids. */
const score: Scorer = (records, cards) =>
  records.flatMap(({ id: remoteId }) =>
    cards.flatMap(({ id: cardId }) =>
      remoteId.at(-1) === cardId.at(-1)
        ? [
            {
              remoteId,
              cardId,
              score: 0.9,
              verdict: remoteId.endsWith('1') ? 'match' : 'possible',
              reason: 'digit',
            } as const,
          ]
        : [],
    ),
  );

const seed = Math.floor(Math.random() * 2 ** 31);
it(`a plan in parts equals a plan in one part, except for the order of its rows (seed ${seed})`, () =>
  fc.assert(
    fc.asyncProperty(world, async (one) => {
      const of = mapping(one.direction, one.filtered);
      const { syncState, seen } = build(one);
      seen.remote.records.sort((a, b) => (a.id < b.id ? -1 : 1));
      const plan = async (size?: number) =>
        await planInMemory('p', of, structuredClone(syncState), seen, { score, evaluate }, size);
      const [{ rows, ...parts }, { rows: together, ...whole }] = [await plan(one.chunk), await plan()];
      expect(comparable(rows)).toEqual(comparable(together));
      expect(rows.map(({ no }) => no)).toEqual(rows.map((_, at) => at));
      expect(parts).toEqual(whole);
    }),
    { numRuns: 300, seed },
  ));
