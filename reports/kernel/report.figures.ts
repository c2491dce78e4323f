/** Counters of one report since the process started. */
export interface ReportFigure {
  report: string;
  /** Responses from the cache with the current state. */
  hits: number;
  /** Stale responses within `max_staleness`. */
  stale: number;
  /** Requests that shared a concurrent computation. */
  waits: number;
  /** Computations. */
  computed: number;
  /** Total seconds of computation. */
  seconds: number;
  /** Age of the last stale response, in seconds. */
  age: number;
}

/** Counts for the metrics of this process. */
export class ReportFigures {
  readonly #figures = new Map<string, ReportFigure>();

  /** The counts of one report, which start at 0. */
  of(report: string): ReportFigure {
    let figure = this.#figures.get(report);
    if (!figure) {
      figure = { report, hits: 0, stale: 0, waits: 0, computed: 0, seconds: 0, age: 0 };
      this.#figures.set(report, figure);
    }
    return figure;
  }

  all(): ReportFigure[] {
    return [...this.#figures.values()];
  }
}
