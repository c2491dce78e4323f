import { BpmnModdle, type ModdleElement } from 'bpmn-moddle';
import { sha256 } from '../../platform/crypto.ts';
import { invalidField } from '../../platform/errors.ts';
import { checkSvg } from '../collaboration/files/svg.check.ts';
import type { ModelElement } from './bpm.types.ts';
import { extractElements } from './bpmn.elements.ts';
import { decodeXml } from './bpmn.encoding.ts';
import { guardBpmn, modelLimits } from './bpmn.guard.ts';
import { drawModel } from './svg/svg.draw.ts';

/** A content that is ready to be stored. */
export interface PreparedContent {
  /** SHA-256 of encoding and bytes. */
  id: string;
  kind: 'bpmn' | 'svg';
  text: string;
  /** Where the bytes are not the text in UTF-8. */
  original: Buffer | null;
  encoding: string;
  /** In bytes. */
  size: number;
}

/** A model with all that is taken from it. */
export interface PreparedModel extends PreparedContent {
  elements: ModelElement[];
  warnings: string[];
  picture: string | null;
}

/** How much of what a parser notes is kept. */
const WARNINGS = { count: 100, length: 300 };
/** Characters of an element's id, as an index takes them. */
const ID_LENGTH = 255;
export const MAX_THUMBNAIL = 1024 * 1024;

const moddle = new BpmnModdle();

/** A model that was sent as text, which is kept in UTF-8 whatever it declares. @throws EstateError 422. */
export async function readModelText(text: string, field: string): Promise<PreparedModel> {
  const bytes = Buffer.from(text, 'utf8');
  requireSize(bytes.length, field);
  if (!text.isWellFormed()) throw invalidField(field, 'format', 'is no text: it holds half a character');
  return await readModel(prepared('bpmn', text, 'utf-8', null, bytes), field);
}

/** A model that was sent as a file, in the encoding that it declares. @throws EstateError 422. */
export async function readModelFile(bytes: Buffer, field: string): Promise<PreparedModel> {
  requireSize(bytes.length, field);
  const { text, encoding } = refusing(field, () => decodeXml(bytes));
  const original = bytes.equals(Buffer.from(text, 'utf8')) ? null : bytes;
  return await readModel(prepared('bpmn', text, encoding, original, bytes), field);
}

function requireSize(size: number, field: string): void {
  if (size === 0) throw invalidField(field, 'required', 'is empty');
  if (size <= modelLimits.bytes) return;
  throw invalidField(field, 'too_long', `has more than ${modelLimits.bytes} bytes`);
}

/** A picture that was sent with a model. @throws EstateError 422. */
export function readThumbnail(text: string, field: string): PreparedContent {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > MAX_THUMBNAIL) {
    throw invalidField(field, 'too_long', `has more than ${MAX_THUMBNAIL} bytes`);
  }
  if (!text.isWellFormed()) throw invalidField(field, 'format', 'is no text: it holds half a character');
  refusing(field, () => checkSvg(text));
  return prepared('svg', text, 'utf-8', null, bytes);
}

function prepared(
  kind: 'bpmn' | 'svg',
  text: string,
  encoding: string,
  original: Buffer | null,
  bytes: Buffer,
): PreparedContent {
  const id = sha256(Buffer.concat([Buffer.from(`${kind} ${encoding}\n`), bytes]));
  return { id, kind, text, original, encoding, size: bytes.length };
}

async function readModel(content: PreparedContent, field: string): Promise<PreparedModel> {
  refusing(field, () => guardBpmn(content.text));
  // the text is decoded: what its declaration says of bytes is no news to the parser
  const { root, warnings } = await parse(
    content.text.replace(/^\uFEFF?<\?xml[^>]*>/, '').replace(/^\uFEFF/, ''),
    field,
  );
  const elements = refusing(field, () => extractElements(root));
  const long = elements.find(({ bpmn_element_id }) => bpmn_element_id.length > ID_LENGTH);
  if (long) throw invalidField(field, 'too_long', `one of its ids has more than ${ID_LENGTH} characters`);
  return { ...content, elements, warnings, picture: drawModel(root) };
}

async function parse(text: string, field: string): Promise<{ root: ModdleElement; warnings: string[] }> {
  try {
    const { rootElement, warnings } = await moddle.fromXML(text, 'bpmn:Definitions');
    const messages = warnings.slice(0, WARNINGS.count).map(({ message }) => oneLine(message));
    if (warnings.length > WARNINGS.count) messages.push(`and ${warnings.length - WARNINGS.count} more`);
    return { root: rootElement, warnings: messages };
  } catch (error) {
    throw invalidField(field, 'bpmn', `is no BPMN 2.0: ${oneLine((error as Error).message)}`);
  }
}

/** The beginning of a message, which may quote the model. */
const oneLine = (text: string): string =>
  text.replace(/\s+/g, ' ').trim().slice(0, WARNINGS.length).toWellFormed();

function refusing<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw invalidField(field, 'format', `cannot be taken: ${oneLine((error as Error).message)}`);
  }
}
