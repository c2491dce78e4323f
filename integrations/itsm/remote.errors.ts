/** Why a call to a remote failed. */
export type RemoteErrorCode = keyof typeof advice;

/** What a person can do about each kind of error. */
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
