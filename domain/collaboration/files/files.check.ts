import { isUtf8 } from 'node:buffer';
import { fileTypeFromBuffer } from 'file-type';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { type FileKind, type FileKindKey, fileKinds } from './files.types.ts';
import { officeKind } from './office.check.ts';
import { checkSvgInThread } from './svg.check.ts';

const byMagic: Record<string, FileKindKey> = {
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/jpeg': 'jpeg',
};
const ARCHIVE = Buffer.from('PK\x03\x04', 'latin1');
const KNOWN = 'pdf, docx, xlsx, pptx, png, jpeg, svg, txt';
const MAX_NAME = 255;

/** A file that may be attached. */
export interface CheckedFile {
  name: string;
  kind: FileKind;
}

/**
 * Finds out what a file is from its bytes, whatever it is called; the ending of its name must agree then, and is added
 * where there is none.
 * @throws EstateError `validation_failed` for any other content or a name that says something else.
 */
export async function checkFile(name: string, content: Buffer): Promise<CheckedFile> {
  if (content.length === 0) throw refusedFile('empty', 'is empty');
  const clean = cleanName(name);
  const ending = /\.(?=[^.]*[a-z])([a-z0-9]{1,8})$/i.exec(clean)?.[1]?.toLowerCase();
  const key = await identify(content, ending);
  const kind: FileKind = fileKinds[key];
  if (ending === undefined) return { name: `${clean}.${kind.endings[0]}`, kind };
  if (!kind.endings.includes(ending)) {
    throw refusedFile('content_mismatch', `is a ${key} file by its content, but its name ends in .${ending}`);
  }
  return { name: clean, kind };
}

async function identify(content: Buffer, ending: string | undefined): Promise<FileKindKey> {
  try {
    if (content.subarray(0, 4).equals(ARCHIVE)) return await officeKind(content);
    const magic = await fileTypeFromBuffer(content);
    if (magic && Object.hasOwn(byMagic, magic.mime)) return byMagic[magic.mime]!;
    const isText = isUtf8(content) && !content.includes(0);
    // what looks like XML to the library is a text all the same
    if (!isText || (magic && magic.mime !== 'application/xml' && magic.mime !== 'image/svg+xml')) {
      throw new Error(`it is none of ${KNOWN}; texts must be in UTF-8`);
    }
    if (ending !== 'svg') return 'txt';
    await checkSvgInThread(content.toString('utf8'));
    return 'svg';
  } catch (error) {
    if (error instanceof EstateError) throw error;
    const why = (error as Error).message.replace(/\s+/g, ' ').slice(0, 200);
    throw refusedFile('unsupported_file', `cannot be attached: ${why}`);
  }
}

/** The last part of a path, without what no file system takes. */
function cleanName(name: string): string {
  const clean = name
    .split(/[/\\]/)
    .at(-1)!
    .replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, '')
    .toWellFormed()
    .trim()
    .replace(/^\.+/, '');
  if (clean === '') throw refusedFile('required', 'has no name');
  if (clean.length > MAX_NAME)
    throw refusedFile('too_long', `has a name of more than ${MAX_NAME} characters`);
  return clean;
}

const refusedFile = (code: string, message: string): EstateError => invalidField('file', code, message);
