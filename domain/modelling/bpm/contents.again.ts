import { invalidField } from '../../../platform/errors.ts';
import {
  contentId,
  type PreparedContent,
  type PreparedModel,
  readModelFile,
  readModelText,
  readThumbnail,
} from './bpmn.read.ts';

/** A content as another service has stored it. */
export interface GivenContent {
  id: string;
  kind: string;
  encoding: string;
  text: string;
  original: Buffer | null;
  size: number;
}

/**
 * Reads a content of another service like one of a request, and checks what that service has stored of it: the id is its
 * hash, which equal contents share, and the text is its decoded bytes.
 * @throws EstateError 422 naming the column, `unavailable`.
 */
export async function readAgain(given: GivenContent): Promise<PreparedModel | PreparedContent> {
  const { id, kind, encoding, text, original, size } = given;
  const bytes = original ?? Buffer.from(text, 'utf8');
  if (contentId(kind, encoding, bytes) !== id) {
    throw invalidField('id', 'checksum', 'is not the hash of the content');
  }
  // models that were sent as text are stored in UTF-8, whatever encoding they declare
  const asText = encoding === 'utf-8' && original === null;
  const read =
    kind === 'svg'
      ? await readThumbnail(text, 'text')
      : await (asText ? readModelText(text, 'text') : readModelFile(bytes, 'text'));
  const isSame = read.text === text && read.encoding === encoding && read.id === id;
  if (!isSame || (read.original === null) !== (original === null)) {
    throw invalidField('text', 'encoding', `does not equal its bytes in ${encoding.slice(0, 40)}`);
  }
  if (read.size !== size)
    throw invalidField('size', 'out_of_range', `must be ${read.size}, the size of the content in bytes`);
  return read;
}
