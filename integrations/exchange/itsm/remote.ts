import { setTimeout as delay } from 'node:timers/promises';
import type { Value } from '../../../domain/exchange/itsm/mappings.types.ts';

/** A field of a record: the stored value, and the display value if it differs. */
export interface RemoteField {
  value: Value;
  display?: string;
}

/** A record of a remote table. */
export interface RemoteRecord {
  table: string;
  /** The remote's key, which never changes and is never reused. */
  id: string;
  fields: Record<string, RemoteField>;
  /** When the remote last changed it, by the remote's clock; RFC 3339. */
  updatedAt: string;
  /** For conditional writes, if the remote supports them and the record was read by key. */
  version?: string;
  /** The remote still has the record but marks it as deleted. */
  deleted?: boolean;
}

/** The remote's record of a deletion. */
export interface RemoteTombstone {
  table: string;
  id: string;
  /** By the remote's clock; RFC 3339. */
  at: string;
  /** The surviving record, if the remote reports merges. */
  mergedInto?: string;
}

/**
 * The result of reading one record by key; `unknown`: the remote does not report whether it exists. `reclassified`: the record
 * is no longer in its table, but in the table of this class. `isMissing`: the list of all records does not contain it, which alone
 * does not prove that it is gone.
 */
export type RecordLookup =
  | { kind: 'gone'; reclassified?: string }
  | { kind: 'unknown'; isMissing?: true }
  | { kind: 'there'; record: RemoteRecord };

/** Why a call to a remote failed. */
export type RemoteErrorCode = keyof typeof advice;

/** What a user can do about each kind of error. */
export const advice = {
  address_refused: 'Correct the address of the connection, or have OUTBOUND_ALLOW name its host and port.',
  unreachable:
    'Check the address, the network and the certificates; the run can be repeated as soon as the remote responds.',
  timed_out:
    'The remote is slow, also with the smaller pages that the run has tried. Narrow the filter of the mapping, or run at a quieter time.',
  credentials_refused: 'Renew the password or the OAuth client of the connection, and test it.',
  forbidden: 'Give the account of the connection the rights that its test names for this table.',
  rate_limited:
    'The remote accepts no more requests at present. Run later, or have the rate limit of the account raised.',
  unavailable:
    'The remote has an internal error. No action is needed here: the run resumes when the remote responds again.',
  unreadable_response:
    'The response is not from the API of the remote, but for example a login or maintenance page. Check the address, and the proxies in between.',
  unexpected_response:
    'The response is not the list, but for example a redirection, a page, or larger than a response may be. Check the address of the source; give a large list paging. Repeating the run does not help.',
  incomplete_response:
    'The remote truncates its responses, also with the smaller pages that the run has tried. If it happens again, narrow the filter.',
  not_found:
    'The table or record does not exist, or is hidden from the account. Check the mapping against the tables of the remote.',
  refused: 'The remote rejects the request. Check the mapped fields against the dictionary of the remote.',
  changed_concurrently:
    'The record was changed after it was read; that change was retained or restored. The next run reads it.',
  ambiguous: 'The remote has several records with the same identity. Remove the duplicates there.',
  bad_rows:
    'Correct the list at its source, or its description in the connection: each row needs a key, and each line the columns of the header.',
  response_lost:
    'It is unknown whether the write was executed. Repeat the run: it looks up the write before it sends it again.',
  paging_ignored:
    'The remote ignores the requested order. Check that its table has the columns by which pages are sorted.',
  resync_needed:
    'The remote no longer knows which changes have been read. No action is needed: the run reads everything.',
  aborted: 'The run was stopped; when it is started again, it resumes.',
} as const;

/** A failed call to a remote: what was attempted, where, and what a user can do about it. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
  readonly code: RemoteErrorCode;
  /** What was attempted, and how it failed. */
  readonly what: string;
  /** The address or the table, without secrets. */
  readonly where: string;
  /** HTTP status of the response, if there was one. */
  readonly status?: number;
  /** Milliseconds after which the remote accepts the next request, if it says so. */
  readonly retryAfterMs?: number;
  /** The remote may still be executing the request. */
  readonly mayBeRunning?: true;

  constructor(
    code: RemoteErrorCode,
    where: string,
    what: string,
    more: Pick<RemoteError, 'status' | 'retryAfterMs' | 'mayBeRunning'> = {},
  ) {
    super(`${where}: ${what}. ${advice[code]}`);
    this.code = code;
    this.what = what;
    this.where = where;
    Object.assign(this, more);
  }

  get advice(): string {
    return advice[this.code];
  }
}

/** Whether an error is a RemoteError with one of these codes; with any code if none is named. */
export const isRemoteError = (error: unknown, ...codes: RemoteErrorCode[]): error is RemoteError =>
  error instanceof RemoteError && (codes.length === 0 || codes.includes(error.code));

/** The value of a call, or `fallback` if it fails with one of these codes. @throws RemoteError with any other code. */
export async function withFallback<T, U>(
  call: Promise<T>,
  codes: RemoteErrorCode[],
  fallback: U,
): Promise<T | U> {
  try {
    return await call;
  } catch (error) {
    if (isRemoteError(error, ...codes)) return fallback;
    throw error;
  }
}

/** The clock of integrations; tests replace it to avoid real delays. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** @throws the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Aborts its signal when the time has passed; clear it when the guarded operation has ended. */
  deadline(ms: number): { signal: AbortSignal; clear(): void };
}

/** The abort reason of a deadline. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  readonly ms: number;

  constructor(ms: number) {
    super(`no response within ${ms / 1000} s`);
    this.ms = ms;
  }
}

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    if (ms <= 0) return;
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch {
      signal?.throwIfAborted();
    }
  },
  deadline(ms) {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new DeadlinePassed(ms)), ms);
    timer.unref();
    return { signal: controller.signal, clear: () => clearTimeout(timer) };
  },
};
