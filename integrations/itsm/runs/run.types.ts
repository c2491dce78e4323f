import type { StoredBook } from '../../../domain/exchange/itsm/book.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Db } from '../../../platform/database.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Connector } from '../connectors/connector.ts';
import type { LoadedMapping } from '../mappings/mapping.load.ts';
import type { CardReader } from '../port/local.cards.ts';

/** The parts of reading and planning, in their order; a run that was killed goes on with the one it was at. */
export const phases = [
  'records',
  'again',
  'deletions',
  'looks',
  'local',
  'relations',
  'relation_deletions',
  'ends',
  'plan',
  'made',
] as const;
type Phase = (typeof phases)[number];

/** Where a run stands; kept with each page. Plain JSON. */
export interface RunState {
  phase: Phase;
  /** Where the phase goes on; null: from its beginning. */
  cursor: string | null;
  /** When reading began, milliseconds by our clock. */
  startedAt: number;
  /** The moment of the plan; RFC 3339. */
  now: string;
  /** How far the remote's clock is ahead, in milliseconds; null where it tells no time. */
  aheadMs: number | null;
  /** The newest change that was read; RFC 3339. */
  newest: string | null;
  newestLink: string | null;
  /** Rows were kept back: what is missing is not gone. */
  withheld: boolean;
  linksWithheld: boolean;
  /** Mapped columns that were kept back: the next run goes on from where this one has. */
  hidden: string[];
  fetched: number;
  /** Changes that were read and bear a time from before the last reading; missing in runs begun by an older version. */
  late?: number;
  relations: number;
  /** Up to where the feed was when reading began. */
  localPosition: string;
}

/** What runs go by where it is given, so that waiting can be made free and pages small. */
export interface RunConditions {
  clock: Clock;
  /** Records of a page. */
  page: number;
}

export const usualConditions: RunConditions = { clock: systemClock, page: 1_000 };

/** What a run knows before it reads. */
export interface RunBasis {
  runId: string;
  mappingId: string;
  /** Everything is read, or only what has changed. */
  complete: boolean;
  /** The mapping; its direction is the run's. */
  loaded: LoadedMapping;
  /** Which way the mapping goes, whichever way this run does. */
  mappingDirection: LoadedMapping['mapping']['direction'];
  book: StoredBook;
}

/** What reading and planning work with. */
export interface RunWork extends RunBasis {
  ctx: Ctx;
  db: Db;
  connector: Connector;
  cards: CardReader;
  /** Records of a page. */
  page: number;
  signal: AbortSignal;
  state: RunState;
  /**
   * One transaction: what `write` does, and where the run stands after it.
   * @throws JobStopped when the run is not ours any more.
   */
  keep(
    change: Partial<RunState>,
    write?: (sql: import('knex').Knex.Transaction) => Promise<void>,
  ): Promise<void>;
}
