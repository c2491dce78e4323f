import { ScriptedFaults } from '../scripted-faults.ts';

/** What can be made to go wrong, alone or together. */
export const faults = [
  'limited',
  'unauthorised',
  'server_error',
  'database_error',
  'html_answer',
  'truncated_json',
  'slow_page',
  'reset_after_write',
  'refused_after_write',
  'rows_between_pages',
] as const;
export type Fault = (typeof faults)[number];

/** What an operation does. */
export type CallKind = 'get' | 'create' | 'update' | 'delete';

const writes: CallKind[] = ['create', 'update', 'delete'];
const befalls: Record<Fault, CallKind[]> = {
  limited: ['get', ...writes],
  unauthorised: ['get', ...writes],
  server_error: ['get', ...writes],
  database_error: ['get', ...writes],
  html_answer: ['get', ...writes],
  truncated_json: ['get', ...writes],
  slow_page: ['get'],
  reset_after_write: writes,
  refused_after_write: writes,
  rows_between_pages: ['get'],
};

/** Decides which calls go wrong, and remembers which did. */
export class Faults extends ScriptedFaults<Fault, CallKind> {
  constructor() {
    super(befalls);
  }
}
