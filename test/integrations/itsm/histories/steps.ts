import fc from 'fast-check';
import type { FieldRule } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { Side } from '../../../../integrations/itsm/engine/model.types.ts';

/** What a person does. Numbers choose among what is there. */
export type PersonAct =
  | { do: 'create'; side: Side; twin: boolean }
  /** `clear`: the value is emptied, which a name cannot be. */
  | { do: 'edit'; side: Side; at: number; field: number; clear?: boolean }
  | { do: 'delete'; side: Side; at: number }
  /** An archived card comes back here, whoever archived it. */
  | { do: 'restore'; at: number }
  | { do: 'merge'; side: Side; at: number; into: number }
  | { do: 'unmap'; at: number }
  | { do: 'decide'; at: number; winner: Side };

/** What befalls a run at one of its calls, counted from its beginning. */
export type Trouble =
  /** The process ends, before or after the call has had its effect. */
  | { kind: 'kill'; call: number; after: boolean }
  /** The remote's answer is lost, with or without the write being done. */
  | { kind: 'lost'; call: number; done: boolean }
  /** A person does something between two calls. */
  | { kind: 'meanwhile'; call: number; act: PersonAct };

export interface RunStep {
  do: 'run';
  complete: boolean;
  /** Done after the remote was read and before the inventory is. */
  between: PersonAct | null;
  trouble: Trouble[];
}

/** A run that has ended is taken back. */
export interface UndoStep {
  do: 'undo';
  /** Which one, counted from the newest that can be taken back. */
  at: number;
  trouble: Trouble[];
}

export type Step = PersonAct | RunStep | UndoStep;

/** What differs from history to history besides the steps. */
export interface Setting {
  rules: FieldRule[];
  deletion: 'additive' | 'conservative' | 'strict';
  /** Whether the remote tells of deletions, and can be asked about single records. */
  tombstones: boolean;
  looks: boolean;
  /** Whether the remote keeps marks of updates and removals, by which a lost answer is found again. */
  marks: boolean;
  /** Whether the remote stores texts in another form than it is sent. Then no answer is lost and no run killed. */
  normalising: boolean;
  /** Rows of a plan that are applied together; as many as usual unless given. */
  batch?: number;
  /** Steps of the clock that something gone waits for its counterpart's removal. */
  quarantine: number;
}

export interface History {
  setting: Setting;
  steps: Step[];
}

const side = fc.constantFrom<Side>('local', 'remote');
const at = fc.nat(30);

const personAct: fc.Arbitrary<PersonAct> = fc.oneof(
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
const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  fc.record({ kind: fc.constant('kill' as const), call, after: fc.boolean() }),
  fc.record({ kind: fc.constant('lost' as const), call, done: fc.boolean() }),
  fc.record({ kind: fc.constant('meanwhile' as const), call, act: personAct }),
);

const run: fc.Arbitrary<RunStep> = fc.record({
  do: fc.constant('run' as const),
  complete: fc.boolean(),
  between: fc.option(personAct, { freq: 4 }),
  trouble: fc.array(trouble, { maxLength: 3 }),
});

const undo: fc.Arbitrary<UndoStep> = fc.record({
  do: fc.constant('undo' as const),
  at: fc.oneof(fc.constant(0), fc.nat(5)),
  trouble: fc.array(trouble, { maxLength: 2 }),
});

const setting: fc.Arbitrary<Setting> = fc.record({
  rules: fc.array(fc.constantFrom<FieldRule>('remote_leads', 'local_leads', 'newest_wins', 'manual'), {
    minLength: 4,
    maxLength: 4,
  }),
  deletion: fc.constantFrom('additive', 'conservative', 'strict', 'strict'),
  tombstones: fc.boolean(),
  looks: fc.boolean(),
  marks: fc.boolean(),
  normalising: fc.boolean(),
  batch: fc.constantFrom(1, 3, 500),
  quarantine: fc.constantFrom(0, 0, 3),
});

const kindsOfSteps = [
  { weight: 8, arbitrary: personAct },
  { weight: 4, arbitrary: run },
  { weight: 1, arbitrary: undo },
] satisfies fc.WeightedArbitrary<Step>[];

const first: PersonAct[] = [
  { do: 'create', side: 'local', twin: false },
  { do: 'create', side: 'remote', twin: false },
  { do: 'create', side: 'local', twin: false },
];

/** Histories of 20 to 60 steps, with at least three cards and three fields in play. */
export const histories: fc.Arbitrary<History> = fc.record({
  setting,
  steps: fc
    .array(fc.oneof(...kindsOfSteps), {
      minLength: 17,
      maxLength: 57,
      size: 'max',
    })
    .map((steps): Step[] => [...first, ...steps]),
});
