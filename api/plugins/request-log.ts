import type { FastifyBaseLogger } from 'fastify';
import { createRequestLines, type Logger } from '../../platform/logging.ts';
import type { App } from '../types.ts';

type Bindings = Record<string, unknown>;
type Line = [object, string?] | [string];

/**
 * The log of one request, with its id in each line. It is made when something is first said in it: most requests say
 * nothing, and making one is a twelfth of a quick answer.
 */
class RequestLog {
  readonly #base: Logger;
  readonly #bindings: Bindings;
  #made: Logger | undefined;

  constructor(base: Logger, bindings: Bindings) {
    this.#base = base;
    this.#bindings = bindings;
  }

  get level(): string {
    return this.#base.level;
  }

  trace(...line: Line): void {
    this.#own().trace(...(line as [string]));
  }
  debug(...line: Line): void {
    this.#own().debug(...(line as [string]));
  }
  info(...line: Line): void {
    this.#own().info(...(line as [string]));
  }
  warn(...line: Line): void {
    this.#own().warn(...(line as [string]));
  }
  error(...line: Line): void {
    this.#own().error(...(line as [string]));
  }
  fatal(...line: Line): void {
    this.#own().fatal(...(line as [string]));
  }
  silent(): void {}
  child(bindings: Bindings): Logger {
    return this.#own().child(bindings);
  }

  #own(): Logger {
    this.#made ??= this.#base.child(this.#bindings);
    return this.#made;
  }
}

/** For Fastify's `childLoggerFactory`. */
export function requestLog(base: FastifyBaseLogger, bindings: Bindings): FastifyBaseLogger {
  return new RequestLog(base as unknown as Logger, bindings) as unknown as FastifyBaseLogger;
}

/** One line for each request that was answered. */
export function registerRequestLines(app: App, log: Logger): void {
  const note = createRequestLines(log);
  app.addHook('onResponse', (request, reply, done) => {
    const { url } = request;
    const end = url.indexOf('?');
    note({
      reqId: request.id,
      method: request.method,
      // the query may hold names of people and things
      path: end < 0 ? url : url.slice(0, end),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      user: request.ctx?.caller.userId ?? undefined,
    });
    done();
  });
}
