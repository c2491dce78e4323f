import { ScriptedFaults } from '../scripted-faults.ts';

import type { CallKind } from './calls.ts';

/** What can be made to go wrong, alone or together. */
export const faults = [
  'limited_with_wait',
  'limited_without_wait',
  'unauthorised',
  'token_expired',
  'server_error',
  'html_answer',
  'truncated_json',
  'error_after_part',
  'rows_between_pages',
  'equal_timestamps',
  'clock_skew',
  'duplicate_ids',
  'slow_page',
  'reset_after_write',
  'acl_change',
] as const;
export type Fault = (typeof faults)[number];

const reads: CallKind[] = ['list'];
const writes: CallKind[] = ['create', 'update', 'delete', 'import', 'reconcile'];
const all: CallKind[] = ['list', 'one', ...writes];

/** The calls that a fault can befall; none for those that are a state of the instance from the moment they are set. */
const befalls: Record<Fault, CallKind[]> = {
  limited_with_wait: all,
  limited_without_wait: all,
  unauthorised: all,
  token_expired: all,
  server_error: all,
  html_answer: all,
  truncated_json: ['list', 'one', 'create', 'update', 'import', 'reconcile'],
  error_after_part: reads,
  rows_between_pages: reads,
  equal_timestamps: [],
  clock_skew: [],
  duplicate_ids: reads,
  slow_page: reads,
  reset_after_write: writes,
  acl_change: reads,
};

/** Faults that hold from when they are set, whatever is called. */
export const isState = (fault: Fault): boolean => befalls[fault].length === 0;

/** Decides which calls go wrong, and remembers which did. */
export class Faults extends ScriptedFaults<Fault, CallKind> {
  constructor() {
    super(befalls);
  }
}
