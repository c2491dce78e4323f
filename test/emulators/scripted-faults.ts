/** When a fault befalls calls. */
export interface FaultScript<Fault, Kind> {
  fault: Fault;
  /** Only calls of these kinds count; by default all that the fault can befall. */
  kinds?: Kind[];
  /** Only calls on this table count. */
  table?: string;
  /** The first call of those that count that goes wrong, from 1. */
  nth?: number;
  /** How many calls in a row go wrong; 1 unless given. */
  times?: number;
}

/** Decides which calls go wrong, and remembers which did. */
export class ScriptedFaults<Fault extends string, Kind extends string> {
  /** How often each fault has befallen a call. */
  readonly fired = new Map<Fault, number>();
  readonly #befalls: Record<Fault, Kind[]>;
  #armed: (FaultScript<Fault, Kind> & { seen: number })[] = [];

  /** @param befalls the calls that each fault can befall. */
  constructor(befalls: Record<Fault, Kind[]>) {
    this.#befalls = befalls;
  }

  arm(script: FaultScript<Fault, Kind>): void {
    this.#armed.push({ ...script, seen: 0 });
  }

  clear(): void {
    this.#armed = [];
  }

  /** The faults of this call; each script counts it. */
  of(kind: Kind, table?: string): Set<Fault> {
    const found = new Set<Fault>();
    for (const armed of this.#armed) {
      if (!(armed.kinds ?? this.#befalls[armed.fault]).includes(kind)) continue;
      if (armed.table !== undefined && armed.table !== table) continue;
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
