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

export interface FaultScript {
  fault: Fault;
  /** Only calls of these kinds count; by default all that the fault can befall. */
  kinds?: CallKind[];
  /** Only calls on this table count. */
  table?: string;
  /** The first call of those that count that goes wrong, from 1. */
  nth?: number;
  /** How many calls in a row go wrong; 1 unless given. */
  times?: number;
}

interface Armed extends FaultScript {
  seen: number;
}

/** Decides which calls go wrong, and remembers which did. */
export class Faults {
  /** How often each fault has befallen a call. */
  readonly fired = new Map<Fault, number>();
  #armed: Armed[] = [];

  arm(script: FaultScript): void {
    this.#armed.push({ ...script, seen: 0 });
  }

  clear(): void {
    this.#armed = [];
  }

  /** The faults of this call; each script counts it. */
  of(kind: CallKind, table: string): Set<Fault> {
    const found = new Set<Fault>();
    for (const armed of this.#armed) {
      if (!(armed.kinds ?? befalls[armed.fault]).includes(kind)) continue;
      if (armed.table !== undefined && armed.table !== table) continue;
      armed.seen += 1;
      const nth = armed.nth ?? 1;
      if (armed.seen < nth || armed.seen >= nth + (armed.times ?? 1)) continue;
      found.add(armed.fault);
    }
    return found;
  }

  note(fault: Fault): void {
    this.fired.set(fault, (this.fired.get(fault) ?? 0) + 1);
  }
}
