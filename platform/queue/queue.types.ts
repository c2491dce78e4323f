/** What travels through the queue: the job's row and the run that is meant. Everything else stands in the row. */
export interface QueuedRun {
  id: string;
  attempt: number;
}

/** Where the queue has a run: `missing` when it has lost it or is done with it. */
export type QueuedState = 'waiting' | 'active' | 'missing';

export interface QueueWorker {
  /** Takes no more runs, and resolves when those under way have ended. `force` doesn't wait for them. */
  close(force: boolean): Promise<void>;
}

/**
 * Brings runs to workers. It may forget or repeat any of them at any time: who runs what, and how it ended, is
 * decided in the database alone.
 */
export interface QueueBackend {
  /** Adds a run under an id of its own; does nothing while the queue knows that id. Rejects when it is away. */
  add(queue: string, runId: string, run: QueuedRun): Promise<void>;
  /** Rejects when the queue is away. */
  state(queue: string, runId: string): Promise<QueuedState>;
  /** Begins to take runs, up to `concurrency` at a time; connects again by itself for as long as it is open. */
  worker(queue: string, concurrency: number, handler: (run: QueuedRun) => Promise<void>): QueueWorker;
  /** Closes what `add` and `state` hold; workers are closed by their own. */
  close(): Promise<void>;
}
