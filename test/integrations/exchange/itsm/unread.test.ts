import { expect, it } from 'vitest';
import type { Pair } from '../../../../integrations/exchange/itsm/engine/model.types.ts';
import { card, type Given, NOW, pair, planned, record, summarize, syncStateOf } from './plans.ts';

it('a card remains a review item while the record with the same identity is not read', () => {
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
    const delta = planned(syncState, { cards: waiting, kind: 'delta' });
    expect(summarize(delta).filter((row) => row.includes('c2'))).toEqual(['stage c2']);
    expect(delta.closing.again).toContain('r1');
    const gone = planned(syncState, { cards: waiting, kind: 'delta', tombstones: ['r1'] });
    expect(summarize(gone)).toContain('create remote c2');
  }
  const ended = syncStateOf(pair('r1', 'c1', 'a', { state: { kind: 'ended', gone: 'local' } }));
  const linked = planned(ended, { cards: waiting, kind: 'delta', records: [record('r1', 'a', 'K1')] });
  expect(summarize(linked)[0]).toBe('link c2 r1');
});

it('the record of an open review item is read again', () => {
  const cards = [card('c1', 'a', 'K0'), card('c2', 'y', 'K1')];
  const given: Given = { cards, kind: 'delta', records: [record('r1', 'a', 'K1')] };
  // the base does not contain the new identity of the record yet, only the record does
  const agreed = { 'attributes.key': { local: 'K0', remote: 'K0' } };
  const syncState = syncStateOf(pair('r1', 'c1', 'a', { base: agreed }));
  const first = planned(syncState, given);
  expect(summarize(first)).toContain('stage c2');
  expect(first.closing.again).toContain('r1');
});
