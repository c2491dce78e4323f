import type { OutboundAnswer } from '../../../../platform/outbound.ts';
import { type AnswerContext, type Dialect, type ReadAnswer, readJson } from '../answers.ts';

const dialect: Dialect = {
  errorOf(document) {
    const error = (document as { error?: unknown } | undefined)?.error;
    if (error === undefined || error === null) return undefined;
    if (typeof error === 'string') return error;
    const { message, detail } = error as { message?: unknown; detail?: unknown };
    return (
      [message, detail].filter((part) => typeof part === 'string' && part !== '').join(': ') ||
      'no reason given'
    );
  },
  meaningOf: (status, message) =>
    status === 400 && /^Invalid table/.test(message ?? '') ? 'not_found' : undefined,
};

/** What an answer of the REST APIs means; its `result` where it is one. */
export function readAnswer(answer: OutboundAnswer, context: AnswerContext): ReadAnswer {
  const read = readJson(answer, context, dialect);
  if (read.kind !== 'done') return read;
  return { kind: 'done', result: (read.result as { result?: unknown } | undefined)?.result };
}
