import type { PoolClient } from 'pg';
import type { CopiedLines, Copying } from './copy-out.ts';

/** Starts reading the next part on a connection; undefined after the last part. */
export type NextPart = (client: PoolClient) => Promise<Copying | undefined>;

/**
 * Reads parts in parallel, one per connection at a time, and yields their lines in the order of the parts. A connection
 * that has received its part starts the next one while earlier parts are still being consumed; at most one part more than
 * there are connections is buffered.
 * @throws what `next` or a part throws, after all connections are usable again.
 */
export async function* copyInOrder(
  clients: readonly PoolClient[],
  next: NextPart,
): AsyncGenerator<CopiedLines> {
  const parts: Copying[] = [];
  let lastBegin: Promise<unknown> = Promise.resolve();
  let stopped = false;
  let changed = Promise.withResolvers<void>();
  const signalChange = () => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };

  const begin = (client: PoolClient): Promise<Copying | undefined> => {
    const begun = lastBegin.then(async () => {
      const part = stopped ? undefined : await next(client);
      if (part) parts.push(part);
      else stopped = true;
      return part;
    });
    lastBegin = begun.catch(() => undefined);
    return begun;
  };

  const readOn = async (client: PoolClient): Promise<void> => {
    try {
      for (;;) {
        while (parts.length > clients.length && !stopped) await changed.promise;
        const part = await begin(client);
        signalChange();
        if (!part) return;
        await part.ended;
      }
    } finally {
      stopped = true;
      signalChange();
    }
  };

  let running = clients.length;
  let failed: unknown;
  const readers = clients.map(async (client) => {
    try {
      await readOn(client);
    } catch (error) {
      failed ??= error;
    } finally {
      running -= 1;
      signalChange();
    }
  });

  try {
    for (;;) {
      const [part] = parts;
      if (part) {
        yield* part.lines();
        parts.shift();
        signalChange();
      } else if (running === 0) {
        if (failed !== undefined) throw failed;
        return;
      } else {
        await changed.promise;
      }
    }
  } finally {
    stopped = true;
    signalChange();
    // when the consumer stops early
    for (const part of parts) await part.discard();
    await Promise.all(readers);
  }
}
