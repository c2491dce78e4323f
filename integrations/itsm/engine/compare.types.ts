import type { Agreed } from './book.types.ts';
import type { Side } from './mapping.types.ts';
import type { Value } from './values.ts';

/** What is to happen to one field of a pair. */
export type FieldOutcome =
  /** Nobody moved it. */
  | { kind: 'same' }
  /** Both sides say the same in their own words; only the base has to follow. */
  | { kind: 'agree'; agreed: Agreed }
  /** `value` goes to `side`; `settled` when it won against a move over there. */
  | { kind: 'write'; side: Side; value: Value; settled: boolean; reason: string }
  /** Moved on both sides, and no rule decides. */
  | { kind: 'conflict'; reason: string }
  /** `side` has refused the value before: a person has to see to it. */
  | { kind: 'refused'; side: Side; reason: string }
  /** It should go to the other side, but the mapping only goes one way. */
  | { kind: 'held'; reason: string }
  /** The value cannot be told on `side`; `awaits`: until this card or record is mapped. */
  | { kind: 'problem'; side: Side; reason: string; settled: boolean; awaits?: string };
