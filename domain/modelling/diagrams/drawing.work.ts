import { followCards } from './drawing.follow.ts';
import { cardsOf, cellsOf, readDrawing } from './drawing.read.ts';
import { CARD_STATE, type CardFact, type ReadDrawing } from './drawing.types.ts';

/** What is asked about a drawing: what it names, or how it reads in step with its cards. */
export type DrawingQuestion = { xml: string; facts?: readonly CardFact[] };

/** What a drawing names, why it is none, or the drawing in step. */
export type DrawingAnswer = { read: ReadDrawing } | { fault: string } | { xml: string };

/** Reads a drawing through. It takes the time that its size asks for. */
export function workOn({ xml, facts }: DrawingQuestion): DrawingAnswer {
  if (facts) return { xml: followCards(xml, facts) };
  try {
    const drawing = readDrawing(xml);
    const marked = cellsOf(drawing).some(({ attributes }) => attributes[CARD_STATE] !== undefined);
    return { read: { xml, ids: cardsOf(drawing), marked } };
  } catch (error) {
    return { fault: (error as Error).message.replace(/\s+/g, ' ').slice(0, 200) };
  }
}
