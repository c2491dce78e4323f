import { isRemoteError, RemoteError, type RemoteRecord } from '../remote.ts';
import type { Call, Transport } from './transport.ts';

/** How often a write is sent at most, after it was looked up and not found. */
const ATTEMPTS = 3;

/** The result of a write, and whether it was found executed after its response was lost. */
export interface SafelyWritten<T> {
  value: T;
  recovered: boolean;
}

/**
 * Sends a write; when its response is lost, looks up whether it was executed before it is sent again.
 * @param find what the write has left; null where it was not executed.
 * @param read throws `answer_lost` when the response does not show what was written.
 * @throws RemoteError `answer_lost` when it is unknown whether the write was executed.
 */
export type SafeWrite = <T>(
  call: Call,
  find: () => Promise<T | null>,
  read: (result: unknown, headers: Record<string, string>) => T,
) => Promise<SafelyWritten<T>>;

/** @param settleMs how long the remote may still be executing a write that timed out. */
export function createSafeWrite(
  { send, clock, signal }: Pick<Transport, 'send' | 'clock' | 'signal'>,
  settleMs: number,
): SafeWrite {
  return async (call, find, read) => {
    for (let attempt = 1; ; attempt += 1) {
      let lost: RemoteError;
      try {
        const { result, headers } = await send(call);
        return { value: read(result, headers), recovered: false };
      } catch (error) {
        if (!isRemoteError(error, 'answer_lost')) throw error;
        lost = error;
      }
      // only later a look tells whether it was executed; once stopped, the look fails for the same reason
      if (lost.mayBeRunning) await clock.sleep(settleMs, signal).catch(() => undefined);
      let found: Awaited<ReturnType<typeof find>>;
      try {
        found = await find();
      } catch (error) {
        throw isRemoteError(error) ? lookupError(lost, error) : error;
      }
      if (found !== null) return { value: found, recovered: true };
      if (attempt < ATTEMPTS) continue;
      const what = `${call.doing} had no answer ${ATTEMPTS} times, and was not done`;
      throw new RemoteError('answer_lost', call.path, what);
    }
  };
}

/** The error of a write whose lookup failed too. */
function lookupError(lost: RemoteError, lookup: RemoteError): RemoteError {
  if (['not_found', 'ambiguous', 'refused', 'changed_meanwhile'].includes(lookup.code)) return lookup;
  const { retryAfterMs } = lookup;
  const more = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new RemoteError(
    'answer_lost',
    lost.where,
    `${lost.what}, and looking for it failed: ${lookup.what}`,
    more,
  );
}

/** The first of the columns whose value differs from what was seen. */
export function changedColumn(
  fields: RemoteRecord['fields'],
  seen: RemoteRecord['fields'],
  columns: readonly string[],
): string | undefined {
  const textOf = (of: RemoteRecord['fields'], name: string) => String(of[name]?.value ?? '');
  return columns.find((name) => textOf(fields, name) !== textOf(seen, name));
}

/**
 * Requires that nobody changed the columns of a lost write since they were seen, so that it may be sent again.
 * @returns null, for the `find` of a safe write. @throws RemoteError `changed_meanwhile`
 */
export function requireUnchanged(
  { where, doing }: { where: string; doing: string },
  record: RemoteRecord | undefined,
  seen: RemoteRecord['fields'] | undefined,
  columns: readonly string[],
): null {
  const changed = record && seen && changedColumn(record.fields, seen, columns);
  if (changed === undefined) return null;
  throw new RemoteError(
    'changed_meanwhile',
    where,
    `${doing} had no answer, and ${changed} was changed since`,
  );
}
