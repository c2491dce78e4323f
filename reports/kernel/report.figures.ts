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
export interface ReportFigures {
  hit(report: string): void;
  stale(report: string, age: number): void;
  wait(report: string): void;
  computed(report: string, seconds: number): void;
  all(): ReportFigure[];
}

/** Figures that begin at zero. */
export function createReportFigures(): ReportFigures {
  const figures = new Map<string, ReportFigure>();
  const of = (report: string): ReportFigure => {
    let figure = figures.get(report);
    if (!figure) {
      figure = { report, hits: 0, stale: 0, waits: 0, computed: 0, seconds: 0, age: 0 };
      figures.set(report, figure);
    }
    return figure;
  };
  return {
    hit(report) {
      of(report).hits += 1;
    },
    stale(report, age) {
      const figure = of(report);
      figure.stale += 1;
      figure.age = age;
    },
    wait(report) {
      of(report).waits += 1;
    },
    computed(report, seconds) {
      const figure = of(report);
      figure.computed += 1;
      figure.seconds += seconds;
    },
    all: () => [...figures.values()],
  };
}
