import { sha256 } from '../../../platform/crypto.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { checkSvgInThread } from '../../collaboration/files/svg.thread.ts';
import { decodeXml } from './bpmn.encoding.ts';
import { modelLimits } from './bpmn.guard.ts';
import { type ModelContent, oneLine } from './bpmn.model.ts';
import { readAside } from './bpmn.thread.ts';

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
export interface PreparedModel extends PreparedContent, ModelContent {}

export const MAX_THUMBNAIL = 1024 * 1024;

/** A model that was sent as text, which is kept in UTF-8 whatever it declares. @throws EstateError 422, `unavailable`. */
export async function readModelText(text: string, field: string): Promise<PreparedModel> {
  const bytes = Buffer.from(text, 'utf8');
  requireSize(bytes.length, field);
  if (!text.isWellFormed()) throw invalidField(field, 'format', 'is no text: it holds half a character');
  return await readModel(prepared('bpmn', text, 'utf-8', null, bytes), field);
}

/** A model that was sent as a file, in the encoding that it declares. @throws EstateError 422, `unavailable`. */
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

/** A picture that was sent with a model. @throws EstateError 422, `unavailable`. */
export async function readThumbnail(text: string, field: string): Promise<PreparedContent> {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > MAX_THUMBNAIL) {
    throw invalidField(field, 'too_long', `has more than ${MAX_THUMBNAIL} bytes`);
  }
  if (!text.isWellFormed()) throw invalidField(field, 'format', 'is no text: it holds half a character');
  try {
    await checkSvgInThread(text);
  } catch (error) {
    throw error instanceof EstateError ? error : unreadable(field, error);
  }
  return prepared('svg', text, 'utf-8', null, bytes);
}

/** The id of a content: its fingerprint, so that the same is kept once. */
export const contentId = (kind: string, encoding: string, bytes: Buffer): string =>
  sha256(Buffer.concat([Buffer.from(`${kind} ${encoding}\n`), bytes]));

function prepared(
  kind: 'bpmn' | 'svg',
  text: string,
  encoding: string,
  original: Buffer | null,
  bytes: Buffer,
): PreparedContent {
  const id = contentId(kind, encoding, bytes);
  return { id, kind, text, original, encoding, size: bytes.length };
}

async function readModel(content: PreparedContent, field: string): Promise<PreparedModel> {
  const read = await readAside(content.text);
  if ('fault' in read) throw invalidField(field, read.fault.code, read.fault.message);
  return { ...content, ...read.content };
}

function refusing<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(field, error);
  }
}

const unreadable = (field: string, error: unknown) =>
  invalidField(field, 'format', `cannot be taken: ${oneLine((error as Error).message)}`);
