/** When a fault affects calls. */
export interface FaultScript<Fault, Kind> {
  fault: Fault;
  /** Only calls of these kinds count; by default all that the fault can affect. */
  kinds?: Kind[];
  /** Only calls on this table count. */
  table?: string;
  /** The first call of those that count that goes wrong, from 1. */
  nth?: number;
  /** How many calls in a row go wrong; 1 unless given. */
  times?: number;
}

/** Decides which calls go wrong, and counts those that did. */
export class ScriptedFaults<Fault extends string, Kind extends string> {
  /** How many calls each fault has affected. */
  readonly fired = new Map<Fault, number>();
  readonly #affected: Record<Fault, Kind[]>;
  #armed: (FaultScript<Fault, Kind> & { seen: number })[] = [];

  /** @param affected the calls that each fault can affect. */
  constructor(affected: Record<Fault, Kind[]>) {
    this.#affected = affected;
  }

  arm(script: FaultScript<Fault, Kind>): void {
    this.#armed.push({ ...script, seen: 0 });
  }

  clear(): void {
    this.#armed = [];
  }

  /** Counts a call for each script. @returns whether a fault affects it, to be asked where that shows. */
  call(kind: Kind, table?: string): (fault: Fault) => boolean {
    const due = new Set<Fault>();
    for (const armed of this.#armed) {
      if (!(armed.kinds ?? this.#affected[armed.fault]).includes(kind)) continue;
      if (armed.table !== undefined && armed.table !== table) continue;
      armed.seen += 1;
      const nth = armed.nth ?? 1;
      if (armed.seen >= nth && armed.seen < nth + (armed.times ?? 1)) due.add(armed.fault);
    }
    return (fault) => {
      if (due.has(fault)) this.note(fault);
      return due.has(fault);
    };
  }

  note(fault: Fault): void {
    this.fired.set(fault, (this.fired.get(fault) ?? 0) + 1);
  }
}
