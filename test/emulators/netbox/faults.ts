import { ScriptedFaults } from '../scripted-faults.ts';

/** What a request asks for. */
export type CallKind = 'list' | 'one' | 'options' | 'create' | 'update' | 'delete';

export const faults = [
  'limited_with_wait',
  'limited_without_wait',
  'server_error',
  'html_answer',
  'truncated_json',
  'slow_page',
  'rows_between_pages',
  'duplicate_ids',
  'reset_after_write',
] as const;
export type Fault = (typeof faults)[number];

const writes: CallKind[] = ['create', 'update', 'delete'];
const all: CallKind[] = ['list', 'one', ...writes];
const befalls: Record<Fault, CallKind[]> = {
  limited_with_wait: all,
  limited_without_wait: all,
  server_error: all,
  html_answer: all,
  truncated_json: ['list', 'one', 'create', 'update'],
  slow_page: ['list'],
  rows_between_pages: ['list'],
  duplicate_ids: ['list'],
  reset_after_write: writes,
};

/** Decides which calls go wrong, and remembers which did. */
export class Faults extends ScriptedFaults<Fault, CallKind> {
  constructor() {
    super(befalls);
  }
}
