import fc from 'fast-check';
import type { FieldRule } from '../../../../../domain/exchange/itsm/mappings.types.ts';
import type { Side } from '../../../../../integrations/exchange/itsm/engine/model.types.ts';

/** An action of a user. Numbers select an existing object. */
export type UserAction =
  | { do: 'create'; side: Side; twin: boolean }
  /** `clear`: clears the value; not of a name. */
  | { do: 'edit'; side: Side; at: number; field: number; clear?: boolean }
  | { do: 'delete'; side: Side; at: number }
  /** Restores an archived card. */
  | { do: 'restore'; at: number }
  | { do: 'merge'; side: Side; at: number; into: number }
  | { do: 'unmap'; at: number }
  | { do: 'decide'; at: number; winner: Side };

/** A disruption of a run at one of its calls, counted from its beginning. */
export type Disruption =
  /** The process ends before or after the call was executed. */
  | { kind: 'kill'; call: number; after: boolean }
  /** The response is lost; `done`: the write was executed. */
  | { kind: 'lost'; call: number; done: boolean }
  /** A user acts between two calls. */
  | { kind: 'meanwhile'; call: number; act: UserAction };

export interface RunStep {
  do: 'run';
  complete: boolean;
  /** After the remote was read and before the inventory is read. */
  between: UserAction | null;
  disruptions: Disruption[];
}

/** The undo of an ended run. */
export interface UndoStep {
  do: 'undo';
  /** Which run, counted from the newest that can be undone. */
  at: number;
  disruptions: Disruption[];
}

export type Step = UserAction | RunStep | UndoStep;

/** The parameters of a history. */
export interface Setting {
  rules: FieldRule[];
  deletion: 'additive' | 'conservative' | 'strict';
  /** Whether the remote reports deletions, and can be read by key. */
  hasTombstones: boolean;
  hasLookups: boolean;
  /** Whether the remote stores correlation ids of updates and deletions, so that lost responses can be looked up. */
  hasCorrelationIds: boolean;
  /** Whether the remote stores texts in another form than sent. Then no response is lost and no run killed. */
  normalizesTexts: boolean;
  /** The number of rows that are applied together. */
  batch?: number;
  /** The quarantine in steps of the clock. */
  quarantine: number;
}

/** Both sides with all that a remote can offer. */
export const usualSetting: Setting = {
  rules: [],
  deletion: 'strict',
  hasTombstones: true,
  hasLookups: true,
  hasCorrelationIds: true,
  normalizesTexts: false,
  quarantine: 0,
};

export type History = { setting: Setting; steps: Step[] };

const side = fc.constantFrom<Side>('local', 'remote');
const at = fc.nat(30);

const personAct: fc.Arbitrary<UserAction> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('edit' as const), side, at, field: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      side,
      at,
      field: fc.integer({ min: 1, max: 3 }),
      clear: fc.constant(true),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), side, twin: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), side, at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('merge' as const), side, at, into: at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restore' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unmap' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('decide' as const), at, winner: side }) },
);

const call = fc.nat(24);
const disruption: fc.Arbitrary<Disruption> = fc.oneof(
  fc.record({ kind: fc.constant('kill' as const), call, after: fc.boolean() }),
  fc.record({ kind: fc.constant('lost' as const), call, done: fc.boolean() }),
  fc.record({ kind: fc.constant('meanwhile' as const), call, act: personAct }),
);

const run: fc.Arbitrary<RunStep> = fc.record({
  do: fc.constant('run' as const),
  complete: fc.boolean(),
  between: fc.option(personAct, { freq: 4 }),
  disruptions: fc.array(disruption, { maxLength: 3 }),
});

const undo: fc.Arbitrary<UndoStep> = fc.record({
  do: fc.constant('undo' as const),
  at: fc.oneof(fc.constant(0), fc.nat(5)),
  disruptions: fc.array(disruption, { maxLength: 2 }),
});

const setting: fc.Arbitrary<Setting> = fc.record({
  rules: fc.array(fc.constantFrom<FieldRule>('remote_leads', 'local_leads', 'newest_wins', 'manual'), {
    minLength: 4,
    maxLength: 4,
  }),
  deletion: fc.constantFrom('additive', 'conservative', 'strict', 'strict'),
  hasTombstones: fc.boolean(),
  hasLookups: fc.boolean(),
  hasCorrelationIds: fc.boolean(),
  normalizesTexts: fc.boolean(),
  batch: fc.constantFrom(1, 3, 500),
  quarantine: fc.constantFrom(0, 0, 3),
});

const stepKinds = [
  { weight: 8, arbitrary: personAct },
  { weight: 4, arbitrary: run },
  { weight: 1, arbitrary: undo },
] satisfies fc.WeightedArbitrary<Step>[];

const first: UserAction[] = [
  { do: 'create', side: 'local', twin: false },
  { do: 'create', side: 'remote', twin: false },
  { do: 'create', side: 'local', twin: false },
];

/** Histories of 20 to 60 steps, beginning with three objects. */
export const histories: fc.Arbitrary<History> = fc.record({
  setting,
  steps: fc
    .array(fc.oneof(...stepKinds), { minLength: 17, maxLength: 57, size: 'max' })
    .map((steps): Step[] => [...first, ...steps]),
});
