import type { FieldError } from '../../../platform/errors.ts';
import { canonicalLanguage } from '../../kernel/metamodel/languages.ts';
import type { Translations } from '../../kernel/metamodel/metamodel.types.ts';

const MAX_LANGUAGES = 100;
const MAX_TEXT = 10_000;

/**
 * Translations in their stored form, with canonical language tags: `{language: text}` for the label alone, or `{member:
 * {language: text}}` for the members of the object. Adds errors to `faults`.
 */
export function cleanTranslations(
  field: string,
  value: unknown,
  members: readonly string[],
  faults: FieldError[],
): Translations {
  const clean: Translations = {};
  for (const [key, part] of entries(value)) {
    if (typeof part === 'string') addText(clean, field, key, part, faults);
    else if (members.includes(key) && isObject(part)) {
      const texts: Translations = {};
      for (const [language, text] of entries(part)) addText(texts, `${field}.${key}`, language, text, faults);
      clean[key] = texts;
    } else {
      const known = members.length > 0 ? `, or one of ${members.join(', ')} with texts by language` : '';
      faults.push({
        field: `${field}.${key}`,
        code: 'bad_translation',
        message: `must be a text by language${known}`,
      });
    }
  }
  if (Object.keys(clean).length > MAX_LANGUAGES) {
    faults.push({ field, code: 'too_many', message: `has more than ${MAX_LANGUAGES} languages` });
  }
  return clean;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const entries = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

function addText(into: Translations, field: string, tag: string, text: unknown, faults: FieldError[]): void {
  const language = canonicalLanguage(tag);
  const fault = (code: string, message: string) =>
    void faults.push({ field: `${field}.${tag}`, code, message });
  if (!language) fault('bad_language', 'is no language tag such as de or pt-BR');
  else if (typeof text !== 'string') fault('wrong_type', 'must be a text');
  else if (text.trim() === '') fault('required', 'must not be blank: leave the language out');
  else if (text.length > MAX_TEXT) fault('too_long', `has more than ${MAX_TEXT} characters`);
  else into[language] = text.trim();
}
