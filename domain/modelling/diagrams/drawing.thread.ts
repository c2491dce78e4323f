import { invalidField } from '../../../platform/errors.ts';
import { boundedThreadPool } from '../../../platform/worker-threads.ts';
import type { CardFact, ReadDrawing } from './drawing.types.ts';
import { type DrawingRequest, type DrawingResult, processDrawing } from './drawing.work.ts';

/** Characters up to which a drawing is read in the main thread. */
const SMALL = 32 * 1024;
/** The same for a drawing that may contain packed pages, which unpack to several hundred times their length. */
const SMALL_PACKED = 2 * 1024;

const mayBePacked = (xml: string): boolean => />\s*[^<\s]/.test(xml) || xml.includes('<![CDATA[');
const isSmall = (xml: string): boolean =>
  xml.length <= SMALL_PACKED || (xml.length <= SMALL && !mayBePacked(xml));

const inThread = boundedThreadPool<DrawingRequest, DrawingResult>({
  module: new URL('./drawing.worker.ts', import.meta.url),
  what: 'large drawings',
});
const run = async (request: DrawingRequest): Promise<DrawingResult> =>
  isSmall(request.xml) ? processDrawing(request) : await inThread(request);

/**
 * Reads a drawing, a large one in a worker thread.
 * @throws EstateError `validation_failed` for an invalid or too large drawing; `unavailable`, `query_too_heavy`.
 */
export async function checkDrawing(xml: string, field = 'data.xml'): Promise<ReadDrawing> {
  const result = await run({ xml });
  if ('read' in result) return result.read;
  const reason = 'fault' in result ? result.fault : '';
  throw invalidField(field, 'bad_drawing', `is invalid: ${reason}`);
}

/** Updates a drawing to its cards in the same way. @throws EstateError `unavailable`, `query_too_heavy`. */
export async function updateDrawing(xml: string, facts: readonly CardFact[]): Promise<string> {
  const result = await run({ xml, facts });
  return 'xml' in result ? result.xml : xml;
}
