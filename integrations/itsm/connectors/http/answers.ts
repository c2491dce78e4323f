import type { OutboundAnswer } from '../../../../platform/outbound.ts';
import { failed } from '../../remote.failures.ts';
import { type AnswerContext, type Dialect, type ReadAnswer, readRefusal } from '../answers.ts';

// whatever answers there, nothing is known of the form of its errors
const dialect: Dialect = { errorOf: () => undefined };

/** The bytes of an answer; undefined where nothing has changed since the last one. */
export function readAnswer(answer: OutboundAnswer, context: AnswerContext): ReadAnswer {
  const { status, headers, body } = answer;
  if (status === 304) return { kind: 'done', result: undefined };
  const refused = readRefusal(answer, context, dialect, undefined);
  if (refused) return refused;
  const isPage =
    /text\/html/i.test(headers['content-type'] ?? '') || /^\s*<(!|html|\?xml)/i.test(headOf(body));
  if (!isPage) return { kind: 'done', result: body };
  const { where, doing } = context;
  const what = `${doing} was answered with a web page instead of data`;
  return { kind: 'outage', failure: failed('unreadable_answer', where, what, { status }) };
}

const headOf = (body: Buffer): string => body.subarray(0, 100).toString('latin1');
