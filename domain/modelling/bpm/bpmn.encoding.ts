/** A text with the encoding in which its bytes are written. */
export interface DecodedText {
  /** With the byte order mark, where there is one. */
  text: string;
  encoding: string;
}

/** Encodings that are read, besides UTF-16, with what they are called in XML declarations. */
const declared: Record<string, string> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'us-ascii': 'us-ascii',
  ascii: 'us-ascii',
  'iso-8859-1': 'iso-8859-1',
  latin1: 'iso-8859-1',
  'iso-8859-15': 'iso-8859-15',
  'windows-1252': 'windows-1252',
};

const DECLARATION = /^<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/;

/** The encoding that the bytes show by their mark, or declare (XML 1.0, appendix F). */
function encodingOf(bytes: Buffer): string {
  const [first, second, third, fourth] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0x3c && second === 0 && third === 0x3f && fourth === 0) return 'utf-16le';
  if (first === 0 && second === 0x3c && third === 0 && fourth === 0x3f) return 'utf-16be';
  const name = DECLARATION.exec(bytes.toString('latin1', 0, 300))?.[1];
  if (name === undefined) return 'utf-8';
  const known = declared[name.toLowerCase()];
  if (!known) throw new Error(`its encoding ${name} is not read`);
  return known;
}

/** Decodes an XML document. @throws Error for an encoding that is not read, and for bytes that do not fit it. */
export function decodeXml(bytes: Buffer): DecodedText {
  const encoding = encodingOf(bytes);
  // every byte is a character in these: nothing can be wrong with them
  if (encoding === 'us-ascii' && bytes.some((byte) => byte > 0x7f)) {
    throw new Error(`its bytes are not ${encoding}`);
  }
  try {
    return { text: new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes), encoding };
  } catch {
    throw new Error(`its bytes are not ${encoding}`);
  }
}
