import type { FieldError } from '../../../../platform/errors.ts';

/** Maximum lengths of texts, in characters (code points). */
export const MAX_NAME = 500;
export const MAX_ALIAS = 500;
export const MAX_EXTERNAL_ID = 500;
export const MAX_DESCRIPTION = 100_000;

/** Whether a text has more than `max` characters; astral characters count once. */
export function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > max * 2) return true;
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters > max;
}

/** Whether PostgreSQL can store the text: it has neither NUL nor a lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Checks a text that may have several lines. */
export function checkText(field: string, text: string, max: number): FieldError | undefined {
  if (isLongerThan(text, max)) {
    return { field, code: 'too_long', message: `has more than ${max.toLocaleString('en')} characters` };
  }
  if (!isStorable(text)) {
    return { field, code: 'bad_text', message: 'contains a NUL or an incomplete character' };
  }
  return undefined;
}

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** A text without visible characters: only formatting characters such as zero-width spaces and soft hyphens. */
const INVISIBLE = /^[\p{Cf}\s]*\p{Cf}[\p{Cf}\s]*$/u;

/** Checks a text on one line, such as a name. */
export function checkLine(field: string, text: string, max: number): FieldError | undefined {
  const fault = checkText(field, text, max);
  if (fault) return fault;
  if (INVISIBLE.test(text)) return { field, code: 'bad_text', message: 'contains no visible character' };
  if (!CONTROL.test(text)) return undefined;
  return { field, code: 'bad_text', message: 'contains a line break or another control character' };
}
