import type { Pair, StateChange } from '../../../../integrations/exchange/itsm/engine/model.types.ts';
import type { PlanRow } from '../../../../integrations/exchange/itsm/engine/plan.types.ts';

/** A row of a plan without empty members. */
export type Draft = Partial<PlanRow> & Pick<PlanRow, 'action'>;

/** A pair. */
export const pair = (remoteId: string, cardId: string, base: Pair['base'] = {}): StateChange => ({
  op: 'pair',
  pair: { remoteId, cardId, origin: 'linked', state: { kind: 'linked' }, base, absences: 0 },
});

/** A row that creates a card for a record. */
export const created = (remoteId: string, name: string, more: Record<string, string> = {}): Draft => ({
  action: 'create',
  side: 'local',
  remoteId,
  diff: Object.fromEntries(
    Object.entries({ name, ...more }).map(([path, value]) => [path, { old: null, new: value }]),
  ),
  expects: { pair: 'none' },
  agreed: { name: { local: name, remote: name } },
  origin: 'pulled',
});
/** A row that writes a name from a card to its record. */
export const pushed = (remoteId: string, cardId: string, from: string, to: string): Draft => ({
  action: 'update',
  side: 'remote',
  remoteId,
  cardId,
  diff: { name: { old: from, new: to } },
  expects: {
    pair: 'linked',
    card: { there: true, fields: { name: to } },
    record: { there: true, fields: { name: from } },
  },
  agreed: { name: { local: to, remote: to } },
});
/** A row that writes a name from a record to its card. */
export const pulled = (remoteId: string, cardId: string, from: string, to: string): Draft => ({
  action: 'update',
  side: 'local',
  remoteId,
  cardId,
  diff: { name: { old: from, new: to } },
  expects: { pair: 'linked', card: { there: true, fields: { name: from } } },
  agreed: { name: { local: to, remote: to } },
});

export const createdRecord = (cardId: string, name: string): Draft => ({
  action: 'create',
  side: 'remote',
  cardId,
  diff: { name: { old: null, new: name } },
  expects: { unbound: true },
  agreed: { name: { local: name, remote: name } },
  origin: 'pushed',
});
