import { aside } from '../../platform/aside.ts';
import { invalidField } from '../../platform/errors.ts';
import type { CardFact, ReadDrawing } from './drawing.types.ts';
import { type DrawingAnswer, type DrawingQuestion, workOn } from './drawing.work.ts';

/** Characters up to which a drawing is read at once, which keeps nobody waiting; packed pages are several times as long. */
const AT_ONCE = 32 * 1024;

const ask = aside<DrawingQuestion, DrawingAnswer>({
  module: new URL('./drawing.worker.ts', import.meta.url),
  what: 'large drawings',
});
const work = async (question: DrawingQuestion): Promise<DrawingAnswer> =>
  question.xml.length <= AT_ONCE ? workOn(question) : await ask(question);

/**
 * Reads a drawing: a large one in a thread of its own.
 * @throws EstateError `validation_failed` for what is no drawing, or too much of one; `unavailable`.
 */
export async function checkDrawing(xml: string, field = 'data.xml'): Promise<ReadDrawing> {
  const answer = await work({ xml });
  if ('read' in answer) return answer.read;
  const why = 'fault' in answer ? answer.fault : '';
  throw invalidField(field, 'bad_drawing', `cannot be taken: ${why}`);
}

/** A drawing in step with its cards, made likewise. @throws EstateError `unavailable`. */
export async function followAside(xml: string, facts: readonly CardFact[]): Promise<string> {
  const answer = await work({ xml, facts });
  return 'xml' in answer ? answer.xml : xml;
}
