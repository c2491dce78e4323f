import { deflateRawSync, inflateRawSync } from 'node:zlib';

/**
 * Unpacks a page in the packed form of draw.io.
 * @throws Error for an invalid page, and one with more than `most` characters.
 */
export function unpackPage(packed: string, most: number): string {
  const compact = packed.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) throw new Error('a page is neither XML nor packed');
  let encoded: string;
  try {
    // the bound allows for URI encoding
    encoded = inflateRawSync(Buffer.from(compact, 'base64'), { maxOutputLength: most * 3 }).toString('utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'ERR_BUFFER_TOO_LARGE' ? 'it is too large when unpacked' : 'a page cannot be unpacked',
    );
  }
  let xml: string;
  try {
    xml = decodeURIComponent(encoded);
  } catch {
    throw new Error('a page cannot be unpacked');
  }
  if (xml.length > most) throw new Error('it is too large when unpacked');
  return xml;
}

/** A page in the packed form of draw.io: URI encoding, raw deflate, base64. */
export function packPage(xml: string): string {
  return deflateRawSync(encodeURIComponent(xml)).toString('base64');
}
