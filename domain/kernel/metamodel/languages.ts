import type { Translations } from './metamodel.types.ts';

/** The languages that the pages of the product have. */
export const productLanguages = ['en', 'de'] as const;

/** The language of labels without translations. */
export const DEFAULT_LANGUAGE = 'en';

const MAX_PREFERENCES = 50;

/** A language tag in its canonical form (`pt-BR`), or undefined if it is not valid (RFC 5646). */
export function canonicalLanguage(tag: string): string | undefined {
  if (!/^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

/** A language and its fallbacks: `zh-Hant-TW`, `zh-Hant`, `zh`. */
export function fallbacks(language: string): string[] {
  const parts = language.split('-');
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
}

/**
 * The languages of an `Accept-Language` header (RFC 9110, 12.5.4), the most preferred first. Invalid tags are skipped.
 * @param any the language that `*` represents; undefined: none.
 */
export function acceptedLanguages(header: string | undefined, any?: string): string[] {
  const wanted = (header ?? '')
    .split(',', MAX_PREFERENCES)
    .flatMap((part) => {
      const [tag, ...parameters] = part.split(';').map((piece) => piece.trim());
      const given = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
      const weight =
        given === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(given) ? Number(given) : 0;
      const language = tag === '*' ? any : canonicalLanguage(tag ?? '');
      return language && weight > 0 ? [{ language, weight }] : [];
    })
    .sort((a, b) => b.weight - a.weight);
  return [...new Set(wanted.map(({ language }) => language))];
}

/**
 * The language of the response: the first accepted one for which there are translations, with or without its region;
 * the default language if that is preferred or nothing matches.
 */
export function chooseLanguage(wanted: readonly string[], translated: ReadonlySet<string>): string {
  for (const language of wanted) {
    for (const tag of fallbacks(language)) {
      if (translated.has(tag) || tag === DEFAULT_LANGUAGE) return tag;
    }
  }
  return DEFAULT_LANGUAGE;
}

/** A text in a language, with or without its region: of the label, or of another member of the translated object. */
export function translated(
  text: string,
  translations: Translations | undefined,
  language: string = DEFAULT_LANGUAGE,
  member = 'label',
): string {
  if (language === DEFAULT_LANGUAGE) return text;
  const byLanguage = translations?.[member] as Record<string, string> | undefined;
  for (const tag of fallbacks(language)) {
    const found = byLanguage?.[tag] ?? (member === 'label' ? translations?.[tag] : undefined);
    if (typeof found === 'string') return found;
  }
  return text;
}

/** A text and its translations in all languages, in both forms that they have. */
export function textsOf(text: string, translations: Translations = {}): string[] {
  const byLanguage = (translations.label ?? {}) as Record<string, unknown>;
  return [text, ...Object.values(translations), ...Object.values(byLanguage)].filter(
    (one) => typeof one === 'string',
  );
}

/** Adds the languages of translations, in both forms that they have. */
export function collectLanguages(translations: unknown, into: Set<string>): void {
  if (typeof translations !== 'object' || translations === null) return;
  for (const [key, value] of Object.entries(translations)) {
    if (typeof value === 'string') into.add(key);
    else collectLanguages(value, into);
  }
}
