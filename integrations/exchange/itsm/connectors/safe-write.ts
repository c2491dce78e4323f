import { isRemoteError, RemoteError, type RemoteRecord } from '../remote.ts';
import type { Call, Transport } from './transport.ts';

/** How often a write is sent at most; before each retry it is looked up. */
const ATTEMPTS = 3;

/** The result of a write, and whether it was found executed after its response was lost. */
export interface SafeWriteResult<T> {
  value: T;
  isRecovered: boolean;
}

/**
 * Sends a write; when its response is lost, looks up whether it was executed before it is sent again.
 * @param find finds the result of the write; null if it was not executed.
 * @param read reads the response; throws `response_lost` when the response does not show what was written.
 * @throws RemoteError `response_lost` when it is unknown whether the write was executed.
 */
export type SafeWrite = <T>(
  call: Call,
  find: () => Promise<T | null>,
  read: (result: unknown, headers: Record<string, string>) => T,
) => Promise<SafeWriteResult<T>>;

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
        return { value: read(result, headers), isRecovered: false };
      } catch (error) {
        if (!isRemoteError(error, 'response_lost')) throw error;
        lost = error;
      }
      // a lookup is reliable only after the remote has settled; after an abort it fails too
      if (lost.mayBeRunning) await clock.sleep(settleMs, signal).catch(() => undefined);
      let found: Awaited<ReturnType<typeof find>>;
      try {
        found = await find();
      } catch (error) {
        throw isRemoteError(error) ? lookupError(lost, error) : error;
      }
      if (found !== null) return { value: found, isRecovered: true };
      if (attempt < ATTEMPTS) continue;
      const what = `${call.doing} got no response ${ATTEMPTS} times and was not executed`;
      throw new RemoteError('response_lost', call.path, what);
    }
  };
}

/** The record in the response to a write. @throws RemoteError `response_lost` if there is none. */
export function requireRecord(table: string, record: RemoteRecord | undefined): RemoteRecord {
  if (record) return record;
  throw new RemoteError('response_lost', `table ${table}`, 'The response to the write contains no record');
}

/** The error of a write whose lookup failed too. */
function lookupError(lost: RemoteError, lookup: RemoteError): RemoteError {
  if (['not_found', 'ambiguous', 'refused', 'changed_concurrently'].includes(lookup.code)) return lookup;
  const { retryAfterMs } = lookup;
  const more = retryAfterMs === undefined ? {} : { retryAfterMs };
  const what = `${lost.what}, and the lookup failed: ${lookup.what}`;
  return new RemoteError('response_lost', lost.where, what, more);
}

/** The first of the columns whose value has changed since it was read. */
export function changedColumn(
  fields: RemoteRecord['fields'],
  seen: RemoteRecord['fields'],
  columns: readonly string[],
): string | undefined {
  const textOf = (of: RemoteRecord['fields'], name: string) => String(of[name]?.value ?? '');
  return columns.find((name) => textOf(fields, name) !== textOf(seen, name));
}

/**
 * Requires that the columns of a lost write are unchanged since they were read, so that it may be sent again.
 * @returns null, for the `find` of a safe write. @throws RemoteError `changed_concurrently`
 */
export function requireUnchanged(
  { where, doing }: { where: string; doing: string },
  record: RemoteRecord | undefined,
  seen: RemoteRecord['fields'] | undefined,
  columns: readonly string[],
): null {
  const changed = record && seen && changedColumn(record.fields, seen, columns);
  if (changed === undefined) return null;
  const what = `${doing} got no response, and ${changed} was changed since`;
  throw new RemoteError('changed_concurrently', where, what);
}
