import Type from 'typebox';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { checkLine, checkText } from '../../inventory/cards/rules/text.ts';
import {
  type AdrContent,
  adrLists,
  adrTexts,
  MAX_ENTRIES,
  MAX_ENTRY,
  MAX_TEXT,
  MAX_TITLE,
} from './adr.model.ts';

/** Users, or other decisions, that a decision references. */
export const AdrEntries = Type.Array(Type.String({ maxLength: MAX_ENTRY }), { maxItems: MAX_ENTRIES });

/** What a client sends of a decision's content. */
export type AdrInput = { title?: string | null } & {
  [Name in Exclude<keyof AdrContent, 'title'>]?: AdrContent[Name] | null;
};

/**
 * The input as it is stored: texts with plain line ends and no blanks around them, empty ones null; lists without blanks,
 * each entry once.
 * @param at a prefix for the names of fields, such as a file's.
 * @throws EstateError `validation_failed` naming all that does not fit.
 */
export function checkedContent(input: AdrInput, at = ''): Partial<AdrContent> {
  const { content, errors } = readContent(input, at);
  if (errors.length > 0) throw invalidFields(errors);
  return content;
}

/** The same with its errors, where they are gathered over several decisions. */
export function readContent(
  input: AdrInput,
  at = '',
): { content: Partial<AdrContent>; errors: FieldError[] } {
  const content: Partial<AdrContent> = {};
  const errors: FieldError[] = [];
  const note = (error: FieldError | undefined) => {
    if (error) errors.push({ ...error, field: at + error.field });
  };
  if (input.title !== undefined) {
    content.title = input.title?.trim() ?? '';
    if (content.title === '') note({ field: 'title', code: 'required', message: 'must not be blank' });
    else note(checkLine('title', content.title, MAX_TITLE));
  }
  for (const name of adrTexts) {
    const given = input[name];
    if (given === undefined) continue;
    const text = plainText(given ?? '');
    content[name] = text === '' ? null : text;
    note(checkText(name, text, MAX_TEXT));
  }
  for (const name of adrLists) {
    const given = input[name];
    if (given === undefined) continue;
    const entries = [...new Set((given ?? []).map((entry) => entry.trim()))].filter((entry) => entry !== '');
    content[name] = entries;
    if (entries.length > MAX_ENTRIES) {
      note({ field: name, code: 'too_many', message: `has more than ${MAX_ENTRIES} entries` });
    }
    for (const [n, entry] of entries.entries()) note(checkLine(`${name}.${n}`, entry, MAX_ENTRY));
  }
  return { content, errors };
}

/** A text with plain line ends, without blank lines before it and blanks behind it. */
export const plainText = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
