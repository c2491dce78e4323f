import type { PoolClient } from 'pg';
import type { CopiedLines, Copying, Taking } from './copy-out.ts';

/** Begins the next part of what is read on a connection; undefined when there is none. */
export type NextPart = (client: PoolClient) => Promise<Copying | undefined>;

/**
 * Lines that are read in parts, several parts at once over as many connections, and handed on in the order of the parts.
 * A connection whose part has come goes on with the next one while parts before it are still read; at most one part
 * more than there are connections stands unread.
 * @param taking how lines are taken.
 * @throws what `next` or a part throws, after all connections are good for something else again.
 */
export async function* inLanes(
  clients: readonly PoolClient[],
  next: NextPart,
  taking: Taking = 'lines',
): AsyncGenerator<CopiedLines> {
  const parts: Copying[] = [];
  let turn: Promise<unknown> = Promise.resolve();
  let stopped = false;
  let wake: () => void = () => undefined;
  let changed = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const tell = () => {
    wake();
    changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
  };

  const begin = (client: PoolClient): Promise<Copying | undefined> => {
    const begun = turn.then(async () => {
      const part = stopped ? undefined : await next(client);
      if (part) parts.push(part);
      else stopped = true;
      return part;
    });
    turn = begun.catch(() => undefined);
    return begun;
  };

  const lane = async (client: PoolClient): Promise<void> => {
    try {
      for (;;) {
        while (parts.length > clients.length && !stopped) await changed;
        const part = await begin(client);
        tell();
        if (!part) return;
        await part.ended;
      }
    } finally {
      stopped = true;
      tell();
    }
  };

  let running = clients.length;
  let failed: unknown;
  const lanes = clients.map(async (client) => {
    try {
      await lane(client);
    } catch (error) {
      failed ??= error;
    } finally {
      running -= 1;
      tell();
    }
  });

  try {
    for (;;) {
      const [part] = parts;
      if (part) {
        yield* part[taking]();
        parts.shift();
        tell();
      } else if (running === 0) {
        if (failed !== undefined) throw failed;
        return;
      } else {
        await changed;
      }
    }
  } finally {
    stopped = true;
    tell();
    // where the reader has stopped early
    for (const part of parts) await part.discard();
    await Promise.all(lanes);
  }
}
