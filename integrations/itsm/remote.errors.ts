/** Why a call to a remote failed. */
export type RemoteErrorCode = keyof typeof advice;

/** What a person can do about each kind of error. */
export const advice = {
  address_refused: 'Correct the address of the connection, or have OUTBOUND_ALLOW name its host and port.',
  unreachable:
    'Check the address, the network and the certificates; the run can be repeated as soon as the remote answers.',
  timed_out:
    'The remote is slow, also with the smaller pages that the run has tried. Narrow the filter of the mapping, or run at a quieter time.',
  credentials_refused: 'Renew the password or the OAuth client of the connection, and test it.',
  forbidden: 'Give the account of the connection the rights that its test names for this table.',
  limited:
    'The remote accepts no more requests for now. Run later, or have the rate limit of the account raised.',
  outage:
    'The remote has an error of its own. Nothing has to be done here: the run continues once the remote answers again.',
  unreadable_answer:
    'Something other than the remote answered, such as a login or maintenance page. Check the address, and the proxies in between.',
  incomplete_answer:
    'The remote stopped in the middle of its answer, also with the smaller pages that the run has tried. If it happens again, narrow the filter.',
  not_found:
    'The table or record does not exist, or is hidden from the account. Check the mapping against the tables of the remote.',
  refused: 'The remote rejects the request. Check the mapped fields against the dictionary of the remote.',
  changed_meanwhile:
    'Somebody changed the record after it was read; their change is still there, or was restored at once. The next run takes it over.',
  ambiguous: 'The remote has several records with the same identity. Remove the duplicates there.',
  bad_rows:
    'Correct the list at its source, or its description in the connection: each row needs a key, and each line the columns of the header.',
  answer_lost:
    'It is unknown whether the write was executed. Repeat the run: it looks the write up before it tries again.',
  paging_ignored:
    'The remote ignores the requested order. Check that its table has the columns by which pages are sorted.',
  stopped: 'The run was stopped; when it is started again, it continues from where it stopped.',
} as const;

/** A call to a remote failed: what was tried, where, and what a person can do about it. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
  readonly code: RemoteErrorCode;
  /** What was tried, and how it ended. */
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

/** The value of a call, or `instead` if it fails with one of these codes. @throws RemoteError with any other code. */
export async function unless<T, U>(call: Promise<T>, codes: RemoteErrorCode[], instead: U): Promise<T | U> {
  try {
    return await call;
  } catch (error) {
    if (isRemoteError(error, ...codes)) return instead;
    throw error;
  }
}
