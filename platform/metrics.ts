import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The figures of one process, in the text form that Prometheus reads. */
export interface Metrics {
  /** Records one answered request; `route` is the pattern, never the address itself. */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /**
   * A figure that is read when it is asked for. `read` returns its present values, each with its labels; all of
   * them replace what was there before.
   */
  gauge<L extends string>(
    name: string,
    help: string,
    labels: L[],
    read: () => Promise<GaugeValue<L>[]>,
  ): void;
  /** The same for counts that only grow; values with the same labels are added up. */
  counter<L extends string>(
    name: string,
    help: string,
    labels: L[],
    read: () => GaugeValue<L>[] | Promise<GaugeValue<L>[]>,
  ): void;
  text(): Promise<string>;
  contentType: string;
  close(): void;
}

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
  return {
    observeRequest: (method, route, status, seconds) =>
      requests.observe({ method, route, status: String(status) }, seconds),
    gauge(name, help, labels, read) {
      new Gauge({
        name,
        help,
        labelNames: labels,
        registers: [registry],
        async collect() {
          const values = await read();
          this.reset();
          for (const { labels: given, value } of values) this.set(given, value);
        },
      });
    },
    counter(name, help, labels, read) {
      new Counter({
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
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close: () => registry.clear(),
  };
}
