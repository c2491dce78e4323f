import type { Clock } from '../clock.ts';
import { done, failed, type RemoteFailure, type Result } from '../remote.failures.ts';
import type { RemoteRecord } from '../remote.types.ts';
import type { Call, Transport } from './transport.ts';

/** How often a write is done again after it was looked up and not found. */
const WRITES = 3;

/** What came of a write: its value, and whether it was found done after the answer had been lost. */
export interface Sure<T> {
  value: T;
  recovered: boolean;
}

/** Sends a write; when its answer is lost, looks whether it was done before it is sent again. */
export type Surely = <T>(
  call: Call,
  look: () => Promise<Result<T | null>>,
  read: (result: unknown, headers: Record<string, string>) => Result<T>,
) => Promise<Result<Sure<T>>>;

export interface SurelyParts {
  transport: Transport;
  clock: Clock;
  /** How long a write that timed out may still be under way over there. */
  settleMs: number;
  signal?: AbortSignal;
}

/** Writes that are never done twice. */
export function createSurely({ transport, clock, settleMs, signal }: SurelyParts): Surely {
  /** A write that timed out may still be under way over there: only later does a look tell. */
  const settle = async ({ underWay }: RemoteFailure): Promise<void> => {
    // once stopped there is no time to wait; the look then fails for the same reason
    if (underWay) await clock.sleep(settleMs, signal).catch(() => undefined);
  };

  return async (call, look, read) => {
    for (let write = 1; ; write += 1) {
      const answer = await transport.send(call);
      if (answer.ok) {
        const value = read(answer.value.result, answer.value.headers);
        if (value.ok) return done({ value: value.value, recovered: false });
        if (value.failure.code !== 'answer_lost') return value;
      } else if (answer.failure.code !== 'answer_lost') return answer;
      else await settle(answer.failure);
      const found = await look();
      if (!found.ok) return unknown(call, answer.ok ? undefined : answer.failure, found.failure);
      if (found.value !== null) return done({ value: found.value, recovered: true });
      if (write === WRITES) {
        return failed(
          'answer_lost',
          call.path,
          `${call.doing} had no answer ${WRITES} times, and was not done`,
        );
      }
    }
  };
}

/** The first of the columns that holds another value than it did when it was seen. */
export function changedColumn(
  fields: RemoteRecord['fields'],
  seen: RemoteRecord['fields'],
  columns: readonly string[],
): string | undefined {
  const textOf = (of: RemoteRecord['fields'], name: string) => String(of[name]?.value ?? '');
  return columns.find((name) => textOf(fields, name) !== textOf(seen, name));
}

/**
 * What a look finds that a lost write has not come to. @param seen what the record held when it was looked at before.
 * @returns null where it may be sent again: nobody has changed meanwhile what it is to change.
 */
export function unlessChanged(
  { where, doing }: { where: string; doing: string },
  record: RemoteRecord | undefined,
  seen: RemoteRecord['fields'] | undefined,
  columns: readonly string[],
): Result<null> {
  const changed = record && seen && changedColumn(record.fields, seen, columns);
  return changed === undefined
    ? done(null)
    : failed('changed_meanwhile', where, `${doing} had no answer, and ${changed} was changed since`);
}

/** A write of which nobody knows whether it was done, since looking failed too; gone for good is known enough. */
function unknown(
  call: Call,
  lost: RemoteFailure | undefined,
  look: RemoteFailure,
): { ok: false; failure: RemoteFailure } {
  if (['not_found', 'ambiguous', 'refused', 'changed_meanwhile'].includes(look.code))
    return { ok: false, failure: look };
  const what = `${lost?.what ?? call.doing}, and looking for it failed: ${look.what}`;
  const { retryAfterMs } = look;
  return failed(
    'answer_lost',
    lost?.where ?? look.where,
    what,
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}
