import { EstateError } from '../../../platform/errors.ts';

/** Converts errors of a file's content to one for the user; errors of the blob store stay as they are. */
export function readError(error: unknown): unknown {
  const { code, name, message } = error as { code?: unknown; name?: string; message: string };
  const ofText = code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
  // libraries throw plain errors, the system errors with a code
  const ofFile = name === 'Error' && (code === undefined || String(code).startsWith('Z_'));
  if (!ofFile && !ofText) return error;
  const why = ofText ? 'it is not UTF-8' : message.replace(/\s+/g, ' ').slice(0, 200).replace(/\.+$/, '');
  return new EstateError('validation_failed', `The file cannot be read: ${why}.`);
}
