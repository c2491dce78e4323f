/** The outcome of a write; a `lost` one was executed once or not at all. */
export type Outcome = 'accepted' | 'refused' | 'lost';

/** One request of a writer, or one signal to a process. */
interface Entry {
  ms: number;
  who: string;
  what: string;
  outcome?: Outcome;
  status?: number | undefined;
  position?: number | undefined;
  detail?: string;
}

/** Everything that was done, in the order in which it was answered, and the errors of the service. */
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

export type KnownCard = { id: string; type: string };

/** What the writers know of the inventory together, right or wrong, and what must be there in the end. */
export interface World {
  cards: KnownCard[];
  archived: string[];
  relations: string[];
  /** External ids of applications and components that imports have brought. */
  imported: { applications: string[]; components: string[] };
  /** Texts that only one write has, with the outcome of that write. */
  tokens: Map<string, Outcome>;
  jobs: StartedJob[];
}

/** A job with what its end must look like. */
export interface StartedJob {
  id: string;
  what: 'import' | 'dry run' | 'export';
  /** Begins the texts that its rows carry. */
  prefix?: string;
  rows?: number;
  faultyRows?: number;
  cancelled?: boolean;
}

export function createWorld(): World {
  return {
    cards: [],
    archived: [],
    relations: [],
    imported: { applications: [], components: [] },
    tokens: new Map(),
    jobs: [],
  };
}
