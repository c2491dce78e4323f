import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The figures of one process, in the text form that Prometheus reads. */
export interface Metrics {
  /** Records one answered request; `route` is the pattern, never the address itself. */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /**
   * A figure that is read when it is asked for. `read` returns its present values, each with its labels; all of
   * them replace what was there before, and those with the same labels are added up.
   */
  gauge: Figure;
  /** The same for counts that only grow. */
  counter: Figure;
  text(): Promise<string>;
  contentType: string;
  close(): void;
}

type Figure = <L extends string>(
  name: string,
  help: string,
  labels: L[],
  read: () => GaugeValue<L>[] | Promise<GaugeValue<L>[]>,
) => void;

interface GaugeValue<L extends string> {
  labels: Record<L, string>;
  value: number;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A registry of its own, with the figures of the process (memory, CPU, event loop, garbage collection). */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'estate_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers: [registry],
  });
  const figure =
    (Kind: typeof Gauge): Figure =>
    (name, help, labels, read) =>
      void new Kind({
        name,
        help,
        labelNames: labels,
        registers: [registry],
        async collect() {
          const values = await read();
          this.reset();
          for (const { labels: given, value } of values) this.inc(given, value);
        },
      });
  return {
    observeRequest: (method, route, status, seconds) =>
      requests.observe({ method, route, status: String(status) }, seconds),
    gauge: figure(Gauge),
    // both have the methods that are used
    counter: figure(Counter as unknown as typeof Gauge),
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close: () => registry.clear(),
  };
}
