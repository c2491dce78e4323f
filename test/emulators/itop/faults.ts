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
  refused_after_write: ['create', 'update'],
  rows_between_pages: ['get'],
};

export interface FaultScript {
  fault: Fault;
  /** Only calls of these kinds count; by default all that the fault can befall. */
  kinds?: CallKind[];
  /** The first call of those that count that goes wrong, from 1. */
  nth?: number;
  /** How many calls in a row go wrong; 1 unless given. */
  times?: number;
}

/** Decides which calls go wrong, and remembers which did. */
export class Faults {
  /** How often each fault has befallen a call. */
  readonly fired = new Map<Fault, number>();
  #armed: (FaultScript & { seen: number })[] = [];

  arm(script: FaultScript): void {
    this.#armed.push({ ...script, seen: 0 });
  }

  clear(): void {
    this.#armed = [];
  }

  /** The faults of this call; each script counts it. */
  of(kind: CallKind): Set<Fault> {
    const found = new Set<Fault>();
    for (const armed of this.#armed) {
      if (!(armed.kinds ?? befalls[armed.fault]).includes(kind)) continue;
      armed.seen += 1;
      const nth = armed.nth ?? 1;
      if (armed.seen >= nth && armed.seen < nth + (armed.times ?? 1)) found.add(armed.fault);
    }
    return found;
  }

  note(fault: Fault): void {
    this.fired.set(fault, (this.fired.get(fault) ?? 0) + 1);
  }
}
