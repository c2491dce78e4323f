import type { OutboundAnswer } from '../../../../platform/outbound.ts';
import { type AnswerContext, type Dialect, type ReadAnswer, readJson } from '../answers.ts';

/** NetBox answers 403 to a token that does not count, as to one without the right; only its words differ. */
const nobody = /token|credential|inactive|not permitted to authenticate|authentication/i;

const dialect: Dialect = {
  errorOf(document, status) {
    // an object may have a column of the same name
    if (status < 400 || typeof document !== 'object' || document === null) return undefined;
    const { detail, error } = document as { detail?: unknown; error?: unknown };
    const said = detail ?? error;
    if (typeof said === 'string') return said;
    return Object.entries(document)
      .map(([field, faults]) => `${field}: ${wordsOf(faults)}`)
      .join('; ');
  },
  meaningOf(status, message) {
    if (status === 403 && nobody.test(message ?? '')) return 'credentials_refused';
    return status === 412 ? 'changed_meanwhile' : undefined;
  },
};

const wordsOf = (faults: unknown): string =>
  Array.isArray(faults)
    ? faults.map(wordsOf).join(' ')
    : typeof faults === 'string'
      ? faults
      : JSON.stringify(faults);

/** What an answer of the REST API means. */
export const readAnswer = (answer: OutboundAnswer, context: AnswerContext): ReadAnswer =>
  readJson(answer, context, dialect);
