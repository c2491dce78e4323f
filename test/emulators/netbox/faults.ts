import { ScriptedFaults } from '../scripted-faults.ts';

/** What a request asks for. */
export type CallKind = 'list' | 'one' | 'options' | 'create' | 'update' | 'delete';

const writes: CallKind[] = ['create', 'update', 'delete'];
const all: CallKind[] = ['list', 'one', ...writes];

/** What can be made to go wrong, alone or together, and the calls that it can affect. */
const affected = {
  limited_with_wait: all,
  limited_without_wait: all,
  server_error: all,
  html_answer: all,
  truncated_json: ['list', 'one', 'create', 'update'],
  slow_page: ['list'],
  rows_between_pages: ['list'],
  duplicate_ids: ['list'],
  reset_after_write: writes,
} satisfies Record<string, CallKind[]>;

export type Fault = keyof typeof affected;
export const faults = Object.keys(affected) as Fault[];

export type Faults = ScriptedFaults<Fault, CallKind>;
export const createFaults = (): Faults => new ScriptedFaults<Fault, CallKind>(affected);
