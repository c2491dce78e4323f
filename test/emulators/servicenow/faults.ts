import { ScriptedFaults } from '../scripted-faults.ts';

/** What a request asks for. */
export type CallKind = 'list' | 'create' | 'update' | 'delete' | 'import' | 'reconcile' | 'token';

const reads: CallKind[] = ['list'];
const writes: CallKind[] = ['create', 'update', 'delete', 'import', 'reconcile'];
const all: CallKind[] = ['list', ...writes];

/** What can be made to go wrong, alone or together, and the calls that it can affect; none for states of the instance. */
const affected = {
  limited_with_wait: all,
  limited_without_wait: all,
  unauthorised: all,
  token_expired: all,
  server_error: all,
  html_answer: all,
  truncated_json: ['list', 'create', 'update', 'import', 'reconcile'],
  error_after_part: reads,
  rows_between_pages: reads,
  equal_timestamps: [],
  clock_skew: [],
  duplicate_ids: reads,
  slow_page: reads,
  reset_after_write: writes,
  acl_change: reads,
} satisfies Record<string, CallKind[]>;

export type Fault = keyof typeof affected;
export const faults = Object.keys(affected) as Fault[];

/** Faults that hold from when they are set, whatever is called. */
export const isState = (fault: Fault): boolean => affected[fault].length === 0;

export type Faults = ScriptedFaults<Fault, CallKind>;
export const createFaults = (): Faults => new ScriptedFaults<Fault, CallKind>(affected);
