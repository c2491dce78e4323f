import { type FieldError, invalidField } from '../../platform/errors.ts';
import { commonPasswords } from './common-passwords.data.ts';

/** Characters, counted as code points. */
const MIN = 12;
const MAX = 200;

/**
 * The error of a new password, if any: it must have 12 to 200 characters, must not be a common one, needs several
 * different characters, and must not be the name of the account.
 */
function passwordError(password: string, email: string): FieldError | undefined {
  const field = 'password';
  const length = [...password].length;
  if (length < MIN)
    return { field, code: 'too_short', message: `has ${length} characters; at least ${MIN} are needed` };
  if (length > MAX)
    return { field, code: 'too_long', message: `has ${length} characters; at most ${MAX} are allowed` };
  const plain = password.toLowerCase().replace(/\s+/g, '');
  if (commonPasswords.has(plain))
    return { field, code: 'too_common', message: 'is one of the passwords that are guessed first' };
  if (new Set(plain).size < 5)
    return { field, code: 'too_simple', message: 'has fewer than five different characters' };
  const name = email.toLowerCase();
  if (plain === name || plain === name.split('@')[0]) {
    return { field, code: 'too_simple', message: 'is the name of the account' };
  }
  return undefined;
}

/** @throws EstateError `validation_failed` naming `password`. */
export function requireGoodPassword(password: string, email: string): void {
  const error = passwordError(password, email);
  if (error) throw invalidField(error.field, error.code, error.message);
}
