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

interface Script {
  fault: Fault;
  kinds?: CallKind[];
  /** The first call of those that count that goes wrong, from 1. */
  nth?: number;
  /** How many calls in a row go wrong; 1 unless given. */
  times?: number;
}

/** Decides which calls go wrong, and remembers which did. */
export class Faults {
  readonly fired = new Map<Fault, number>();
  #armed: (Script & { seen: number })[] = [];

  arm(script: Script): void {
    this.#armed.push({ ...script, seen: 0 });
  }

  clear(): void {
    this.#armed = [];
  }

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
