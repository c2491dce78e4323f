/** How often one report was answered in which way, since the process began. */
export interface ReportFigure {
  report: string;
  /** Answers given as they were kept, nothing having changed since. */
  hits: number;
  /** Answers given although something changed, as `max_staleness` allows. */
  stale: number;
  /** Requests that waited for an answer which another was computing. */
  waits: number;
  /** Answers computed. */
  computed: number;
  /** Seconds that computing took, in total. */
  seconds: number;
  /** The age of the stale answer given last, in seconds. */
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
