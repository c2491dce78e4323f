import type { OutboundAnswer } from '../../../../platform/outbound.ts';
import { type FailureCode, failed } from '../../remote.failures.ts';
import { type AnswerContext, type Dialect, type ReadAnswer, readJson } from '../answers.ts';

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
  const refusal = `was refused with the code ${code}${message === '' ? '' : ` (${message.slice(0, 200)})`}`;
  if (code === codes.missingUser || code === codes.missingPassword) {
    return of('unauthenticated', 'credentials_refused', refusal);
  }
  if (code === codes.unauthorized) {
    return isAboutRights(message)
      ? of('final', 'forbidden', refusal)
      : of('unauthenticated', 'credentials_refused', refusal);
  }
  if (code !== codes.internalError) return of('final', 'refused', refusal);
  if (isPassing(message)) return of('outage', isRead ? 'outage' : 'answer_lost', refusal);
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
