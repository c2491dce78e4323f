import type { OutboundAnswer } from '../../../../platform/outbound.ts';
import { type FailureCode, failed } from '../../remote.failures.ts';
import { type AnswerContext, type Dialect, inWords, type ReadAnswer, readJson } from '../answers.ts';

/**
 * The service passes on the error number of an exception of its database as its own code; its own end at 100, those of
 * MySQL and MariaDB begin here.
 */
const LOWEST_DATABASE_CODE = 1_000;
/**
 * Errors of the database about the statement or a value in it: the same request fails again. All others, such as a lost
 * connection (2006, 2013), a deadlock (1213) or a lock that was not granted in time (1205), are failures of the database.
 */
const statementFaults: ReadonlySet<number> = new Set([
  1048, 1052, 1054, 1062, 1064, 1116, 1139, 1146, 1242, 1264, 1265, 1292, 1365, 1366, 1406, 1411, 1451, 1452,
  1690, 3140, 3685, 4025,
]);

/** What the service says of each call, beside its message; 0 is success. */
const codes = { unauthorized: 1, missingUser: 5, missingPassword: 6, internalError: 100 } as const;

interface Document {
  code?: unknown;
  message?: unknown;
}

const messageOf = (document: unknown): string => {
  const { message } = (document ?? {}) as Document;
  return typeof message === 'string' ? message : '';
};

// in an answer of success the code decides
const dialect: Dialect = {
  errorOf: (document, status) => (status < 300 ? undefined : messageOf(document) || undefined),
};

/** Reads an answer of the REST/JSON service: its own code counts, since refusals come with the status 200. */
export function readAnswer(answer: OutboundAnswer, context: AnswerContext): ReadAnswer {
  const read = readJson(answer, context, dialect);
  if (read.kind !== 'done') return read;
  const { where, doing, isRead } = context;
  const of = (kind: Exclude<ReadAnswer['kind'], 'done'>, failure: FailureCode, what: string): ReadAnswer => ({
    kind,
    failure: failed(failure, where, `${doing} ${what}`, { status: answer.status }),
  });
  const code = Number((read.result as Document | undefined)?.code ?? Number.NaN);
  if (code === 0) return read;
  const message = messageOf(read.result);
  if (Number.isNaN(code)) {
    return of('outage', isRead ? 'unreadable_answer' : 'answer_lost', 'was answered with other data');
  }
  const refusal = `was refused with the code ${code}${inWords(context, message)}`;
  if (code === codes.missingUser || code === codes.missingPassword) {
    return of('unauthenticated', 'credentials_refused', refusal);
  }
  if (code === codes.unauthorized) {
    return isAboutRights(message)
      ? of('final', 'forbidden', refusal)
      : of('unauthenticated', 'credentials_refused', refusal);
  }
  const failsBelow = code >= LOWEST_DATABASE_CODE ? !statementFaults.has(code) : isPassing(message);
  if (code !== codes.internalError && !failsBelow) return of('final', 'refused', refusal);
  if (failsBelow) return of('outage', isRead ? 'outage' : 'answer_lost', refusal);
  return of('final', isMissing(message) ? 'not_found' : 'refused', refusal);
}

// one code stands for wrong credentials and for lacking rights
const isAboutRights = (message: string): boolean =>
  /enough permissions|not allowed|not authorized/i.test(message);
// one code stands for whatever goes wrong inside
const isMissing = (message: string): boolean =>
  /^Error: (Invalid object |No item found|Unknown class)| is not a valid class/i.test(message);
const isPassing = (message: string): boolean =>
  /mysql|deadlock|lock wait|SQL query|ReadOnly mode|maintenance/i.test(message);
