import { ScriptedFaults } from '../scripted-faults.ts';

/** What an operation does. */
export type CallKind = 'get' | 'create' | 'update' | 'delete';

const writes: CallKind[] = ['create', 'update', 'delete'];
const all: CallKind[] = ['get', ...writes];

/** What can be made to go wrong, alone or together, and the calls that it can affect. */
const affected = {
  limited: all,
  unauthorised: all,
  server_error: all,
  database_error: all,
  html_answer: all,
  truncated_json: all,
  slow_page: ['get'],
  reset_after_write: writes,
  refused_after_write: writes,
  rows_between_pages: ['get'],
} satisfies Record<string, CallKind[]>;

export type Fault = keyof typeof affected;
export const faults = Object.keys(affected) as Fault[];

export type Faults = ScriptedFaults<Fault, CallKind>;
export const createFaults = (): Faults => new ScriptedFaults<Fault, CallKind>(affected);
