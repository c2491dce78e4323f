/** What became of a write: `lost` is carried out once or not at all. */
export type Outcome = 'accepted' | 'refused' | 'lost';

/** One request of a writer, or one thing that was done to the processes. */
interface Entry {
  ms: number;
  who: string;
  what: string;
  outcome?: Outcome;
  status?: number | undefined;
  position?: number | undefined;
  detail?: string;
}

/** Everything that was done, in the order in which it was answered, and what must not have happened. */
export interface History {
  entries: Entry[];
  faults: string[];
  note(entry: Omit<Entry, 'ms'>): void;
  fault(text: string): void;
}

export function createHistory(): History {
  const start = performance.now();
  const entries: Entry[] = [];
  const faults: string[] = [];
  const note = (entry: Omit<Entry, 'ms'>) => {
    entries.push({ ms: Math.round(performance.now() - start), ...entry });
  };
  return {
    entries,
    faults,
    note,
    fault(text) {
      faults.push(text);
      note({ who: 'fault', what: text });
    },
  };
}
