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
 * Reads a content of another service as if somebody sent it, whatever that service says to have found in it: its id is its
 * fingerprint, by which whoever saves the same later is shown it; its text is what its bytes say.
 * @throws EstateError 422 naming the column, `unavailable`.
 */
export async function readAgain(given: GivenContent): Promise<PreparedModel | PreparedContent> {
  const { id, kind, encoding, text, original, size } = given;
  const bytes = original ?? Buffer.from(text, 'utf8');
  if (contentId(kind, encoding, bytes) !== id) {
    throw invalidField('id', 'checksum', 'is not the fingerprint of the content');
  }
  // what was sent as a text is kept in UTF-8, whatever it declares
  const asText = encoding === 'utf-8' && original === null;
  const read =
    kind === 'svg'
      ? await readThumbnail(text, 'text')
      : await (asText ? readModelText(text, 'text') : readModelFile(bytes, 'text'));
  const isSame = read.text === text && read.encoding === encoding && read.id === id;
  if (!isSame || (read.original === null) !== (original === null)) {
    throw invalidField('text', 'encoding', `is not what its bytes say in ${encoding.slice(0, 40)}`);
  }
  if (read.size !== size)
    throw invalidField('size', 'out_of_range', `is not the ${read.size} bytes that it has`);
  return read;
}
