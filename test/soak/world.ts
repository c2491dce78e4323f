import type { Outcome } from './history.ts';

export interface KnownCard {
  id: string;
  type: string;
}

/** What the writers know of the inventory together, right or wrong, and what they have promised to find there. */
export interface World {
  cards: KnownCard[];
  archived: string[];
  relations: string[];
  /** External ids of applications and components that imports have brought. */
  imported: { applications: string[]; components: string[] };
  /** Texts that a write carries and no other: how many stored writes may carry them. */
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
