import { invalidField } from '../../../platform/errors.ts';
import { boundedThreadPool } from '../../../platform/worker-threads.ts';
import type { CardFact, ReadDrawing } from './drawing.types.ts';
import { type DrawingAnswer, type DrawingQuestion, workOn } from './drawing.work.ts';

/** Characters up to which a drawing is read at once, which keeps nobody waiting. */
const AT_ONCE = 32 * 1024;
/** The same for one with text between its tags, which may be a packed page: that unpacks to several hundred times its length. */
const PACKED_AT_ONCE = 2 * 1024;

const mayBePacked = (xml: string): boolean => />\s*[^<\s]/.test(xml) || xml.includes('<![CDATA[');
const isShort = (xml: string): boolean =>
  xml.length <= PACKED_AT_ONCE || (xml.length <= AT_ONCE && !mayBePacked(xml));

const ask = boundedThreadPool<DrawingQuestion, DrawingAnswer>({
  module: new URL('./drawing.worker.ts', import.meta.url),
  what: 'large drawings',
});
const work = async (question: DrawingQuestion): Promise<DrawingAnswer> =>
  isShort(question.xml) ? workOn(question) : await ask(question);

/**
 * Reads a drawing: a large one in a thread of its own.
 * @throws EstateError `validation_failed` for what is no drawing, or too much of one; `unavailable`, `query_too_heavy`.
 */
export async function checkDrawing(xml: string, field = 'data.xml'): Promise<ReadDrawing> {
  const answer = await work({ xml });
  if ('read' in answer) return answer.read;
  const why = 'fault' in answer ? answer.fault : '';
  throw invalidField(field, 'bad_drawing', `cannot be taken: ${why}`);
}

/** A drawing in step with its cards, made likewise. @throws EstateError `unavailable`, `query_too_heavy`. */
export async function followAside(xml: string, facts: readonly CardFact[]): Promise<string> {
  const answer = await work({ xml, facts });
  return 'xml' in answer ? answer.xml : xml;
}
