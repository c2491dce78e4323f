/** Why a call on a remote came to nothing. */
export type FailureCode = keyof typeof advice;

/** What a person can do about each kind of failure. */
export const advice = {
  address_refused: 'Correct the address of the connection, or have OUTBOUND_ALLOW name its host and port.',
  unreachable:
    'Check the address, the network and the certificates; the run can be repeated as soon as the remote answers.',
  timed_out:
    'The remote is slow: smaller pages are tried by themselves. Narrow the filter of the mapping, or run at quieter hours.',
  credentials_refused: 'Renew the password or the OAuth client of the connection, and test it.',
  forbidden: 'Give the account of the connection the rights that its test names for this table.',
  limited:
    'The remote lets no more requests through for now. Run later, or have its rate rule for the account raised.',
  outage: 'The remote fails by itself. Nothing need be done here: the run goes on once it answers again.',
  unreadable_answer:
    'Something else than the remote answered, such as a login or maintenance page. Check the address, and proxies on the way.',
  incomplete_answer:
    'The remote gave up in the middle of its answer. Smaller pages are tried by themselves; narrow the filter if it goes on.',
  not_found:
    'The table or record is not there, or hidden from the account. Check the mapping against the tables of the remote.',
  refused:
    'The remote does not take the request. Check the mapped fields against the dictionary of the remote.',
  changed_meanwhile:
    'Somebody has changed the record since it was looked at; what they wrote stands, or was put back at once. The next run takes their change in.',
  ambiguous: 'The remote holds several records of the same identity. Remove the duplicates there.',
  bad_rows:
    'Correct the list over there, or what the connection says of it: each row needs a key, and each line the columns of the header.',
  answer_lost:
    'It is not known whether the write was done. It is looked up before it is tried again; repeat the run.',
  paging_ignored:
    'The remote does not heed the order of pages. Check that its table has the columns that pages are read by.',
  stopped: 'The run was stopped; it goes on where it stood when it is started again.',
} as const;

/** A failed call: what failed, where, and what to do. */
export interface RemoteFailure {
  code: FailureCode;
  /** What was tried, and how it ended, in words. */
  what: string;
  /** The address and the table, without anything secret. */
  where: string;
  advice: string;
  /** The status of the answer, where there was one. */
  status?: number;
  /** When to come again, where the remote says so; milliseconds from now. */
  retryAfterMs?: number;
  /** The remote may still be at it. */
  underWay?: true;
}

/** What came of a call. */
export type Result<T> = { ok: true; value: T } | { ok: false; failure: RemoteFailure };

export const done = <T>(value: T): Result<T> => ({ ok: true, value });

export function failed(
  code: FailureCode,
  where: string,
  what: string,
  more: Pick<RemoteFailure, 'status' | 'retryAfterMs' | 'underWay'> = {},
): { ok: false; failure: RemoteFailure } {
  return { ok: false, failure: { code, what, where, advice: advice[code], ...more } };
}

/** A failure as one sentence for a log or an error row. */
export const failureText = ({ what, where, advice: todo }: RemoteFailure): string =>
  `${where}: ${what}. ${todo}`;
