import { cardsOf, cellsOf, readDrawing } from './drawing.read.ts';
import { CARD_STATE, type CardFact, type ReadDrawing } from './drawing.types.ts';
import { updateCards } from './drawing.update.ts';

/** A drawing that is to be read or, with `facts`, updated. */
export type DrawingRequest = { xml: string; facts?: readonly CardFact[] };

/** The drawing as it was read, the reason why it is invalid, or the updated XML. */
export type DrawingResult = { read: ReadDrawing } | { fault: string } | { xml: string };

/** Reads or updates a drawing; large ones block the thread. */
export function processDrawing({ xml, facts }: DrawingRequest): DrawingResult {
  if (facts) return { xml: updateCards(xml, facts) };
  try {
    const drawing = readDrawing(xml);
    const marked = cellsOf(drawing).some(({ attributes }) => attributes[CARD_STATE] !== undefined);
    return { read: { xml, ids: cardsOf(drawing), marked } };
  } catch (error) {
    return { fault: (error as Error).message.replace(/\s+/g, ' ').slice(0, 200) };
  }
}
