import { advice, type RemoteErrorCode } from '../../../integrations/exchange/itsm/remote.ts';
import type { Fault } from '../../emulators/servicenow/faults.ts';
import type { Ended } from './world.ts';

/** What the page about remotes names each fault, and what a run may fail with; nothing where it recovers. */
const described: Record<Fault, [name: string, code?: RemoteErrorCode]> = {
  limited_with_wait: ['returns 429 with Retry-After', 'rate_limited'],
  limited_without_wait: ['returns 429 without Retry-After', 'rate_limited'],
  unauthorised: ['returns 401 during a run', 'credentials_refused'],
  token_expired: ['expires a token early', 'credentials_refused'],
  server_error: ['returns 500', 'unavailable'],
  html_answer: ['returns a web page with status 200', 'unreadable_response'],
  truncated_json: ['truncates JSON', 'incomplete_response'],
  error_after_part: ['returns some rows and an error', 'incomplete_response'],
  rows_between_pages: ['creates and deletes rows between pages'],
  equal_timestamps: ['changes more rows at the same time than fit on a page'],
  clock_skew: ['has a wrong clock'],
  duplicate_ids: ['returns a row twice'],
  slow_page: ['takes minutes for a page', 'timed_out'],
  reset_after_write: ['executes a write and closes the connection', 'response_lost'],
  acl_change: ['starts to hide rows or a column'],
};
export const nameInDocs = (fault: Fault): string => described[fault][0];
export const failsWith = (fault: Fault): RemoteErrorCode[] => described[fault].slice(1) as RemoteErrorCode[];

/** Whatever fails may open the circuit, and may leave open whether a write was done. */
const besides: RemoteErrorCode[] = ['unavailable', 'response_lost'];

/** Whether a line of a run's log reports a failure, final or not. */
export const isFailure = ({ level, message }: Ended['log'][number]): boolean =>
  level === 'error' || message.endsWith('The run is retried.');

/** Compares the failures in the log of a run with those that the faults may cause. @returns the differences. */
export function checkFailures({ run, log }: Ended, faults: readonly Fault[]): string[] {
  const wrong: string[] = [];
  const allowed = faults.flatMap(failsWith);
  const known = allowed.length > 0 ? [...allowed, ...besides] : [];
  const failures = log.filter(isFailure);
  for (const { message } of failures) {
    const code = (Object.keys(advice) as RemoteErrorCode[]).find((one) => message.includes(advice[one]));
    if (code === undefined) wrong.push(`a failure without advice: ${message}`);
    else if (!known.includes(code)) wrong.push(`a failure of another kind, ${code}: ${message}`);
    else if (!/^(https?:\/\/\S+|table \S+): \S/.test(message))
      wrong.push(`a failure without a place: ${message}`);
  }
  if (run.status === 'failed' && !known.includes(run.error_code as RemoteErrorCode))
    wrong.push(`the run failed with ${run.error_code}: ${run.error_message}`);
  if (run.status === 'failed' && !failures.some(({ message }) => message === run.error_message))
    wrong.push(`the log does not contain the reason of the failure: ${run.error_message}`);
  if (run.status !== 'failed' && run.status !== 'completed') wrong.push(`the run is ${run.status}`);
  return wrong;
}

/** A row about a fault in the page about remotes. */
export interface DocumentedFault {
  name: string;
  codes: string[];
  /** The message of a run that fails with it; `…` is the name of the table. */
  message: string;
}

/** The table of faults in the page about remotes. */
export function documentedFaults(guide: string): DocumentedFault[] {
  const table = guide.slice(guide.indexOf('| The remote | The run |'));
  return [...table.matchAll(/^\| ([a-z].+?) \| .+? \| (?:(`.+`) )?\| (?:(.+?) )?\|$/gm)].map(
    ([, name = '', codes = '', message = '']) => ({
      name,
      codes: [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => code!),
      message,
    }),
  );
}
