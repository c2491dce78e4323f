import { BpmnModdle, type ModdleElement } from 'bpmn-moddle';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { ModelElement } from './bpm.model.ts';
import { extractElements } from './bpmn.elements.ts';
import { guardBpmn } from './bpmn.guard.ts';
import { drawModel } from './svg/svg.draw.ts';

/** What is taken from a model. */
export interface ModelContent {
  /**
   * Lists of `ModelElement`s: they are stored as they are, and go from thread to thread sooner than objects do. In parts,
   * since others are answered between one and the next.
   */
  elements: JsonText[];
  warnings: string[];
  picture: string | null;
}

/** Why a text is no model, as an error of the field in which it was sent. */
export interface ModelFault {
  code: string;
  message: string;
}

/** How much of what a parser notes is kept. */
const WARNINGS = { count: 100, length: 300 };
/** Characters of an element's id, as an index takes them. */
const ID_LENGTH = 255;

const moddle = new BpmnModdle();

/** Reads a model from its decoded text. What it holds without end is refused before anything is built of it. */
export async function readContent(text: string): Promise<{ content: ModelContent } | { fault: ModelFault }> {
  const refused = (code: string, message: string) => ({ fault: { code, message } });
  try {
    guardBpmn(text);
  } catch (error) {
    return refused('format', `cannot be taken: ${oneLine((error as Error).message)}`);
  }
  let parsed: Parsed;
  try {
    // the text is decoded: what its declaration says of bytes is no news to the parser
    parsed = await parse(text.replace(/^\uFEFF?<\?xml[^>]*>/, '').replace(/^\uFEFF/, ''));
  } catch (error) {
    return refused('bpmn', `is no BPMN 2.0: ${oneLine((error as Error).message)}`);
  }
  try {
    const elements = extractElements(parsed.root);
    if (elements.some(({ bpmn_element_id }) => bpmn_element_id.length > ID_LENGTH)) {
      return refused('too_long', `one of its ids has more than ${ID_LENGTH} characters`);
    }
    return {
      content: {
        elements: inParts(elements),
        warnings: parsed.warnings,
        picture: drawModel(parsed.root),
      },
    };
  } catch (error) {
    return refused('format', `cannot be taken: ${oneLine((error as Error).message)}`);
  }
}

/** Elements of one part. */
const PART = 2_000;

const inParts = (elements: readonly ModelElement[]): JsonText[] =>
  Array.from({ length: Math.ceil(elements.length / PART) }, (_, n) =>
    JSON.stringify(elements.slice(n * PART, (n + 1) * PART)),
  );

interface Parsed {
  root: ModdleElement;
  warnings: string[];
}

async function parse(text: string): Promise<Parsed> {
  const { rootElement, warnings } = await moddle.fromXML(text, 'bpmn:Definitions');
  const messages = warnings.slice(0, WARNINGS.count).map(({ message }) => oneLine(message));
  if (warnings.length > WARNINGS.count) messages.push(`and ${warnings.length - WARNINGS.count} more`);
  return { root: rootElement, warnings: messages };
}

/** The beginning of a message, which may quote the model. */
export const oneLine = (text: string): string =>
  text.replace(/\s+/g, ' ').trim().slice(0, WARNINGS.length).toWellFormed();
