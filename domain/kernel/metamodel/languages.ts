/** The language of labels that nobody has translated. */
export const DEFAULT_LANGUAGE = 'en';

const MAX_PREFERENCES = 50;

/** A language tag in its canonical spelling (`pt-BR`), or undefined when it is none (RFC 5646). */
export function canonicalLanguage(tag: string): string | undefined {
  if (!/^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

/** A language and those it falls back to: `zh-Hant-TW`, `zh-Hant`, `zh`. */
export function fallbacks(language: string): string[] {
  const parts = language.split('-');
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
}

/**
 * The languages of an `Accept-Language` header (RFC 9110, 12.5.4), the most wanted first. `*` represents the labels
 * as they are. What is no language is skipped.
 */
export function acceptedLanguages(header: string | undefined): string[] {
  const wanted = (header ?? '')
    .split(',', MAX_PREFERENCES)
    .flatMap((part) => {
      const [tag, ...parameters] = part.split(';').map((piece) => piece.trim());
      const given = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
      const weight =
        given === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(given) ? Number(given) : 0;
      const language = tag === '*' ? DEFAULT_LANGUAGE : canonicalLanguage(tag ?? '');
      return language && weight > 0 ? [{ language, weight }] : [];
    })
    .sort((a, b) => b.weight - a.weight);
  return [...new Set(wanted.map(({ language }) => language))];
}

/**
 * The language in which to answer: the first wanted one that something is translated to, or, without its region, a
 * translated one; the default where that is wanted earlier or nothing fits.
 */
export function chooseLanguage(wanted: readonly string[], translated: ReadonlySet<string>): string {
  for (const language of wanted) {
    for (const tag of fallbacks(language)) {
      if (translated.has(tag) || tag === DEFAULT_LANGUAGE) return tag;
    }
  }
  return DEFAULT_LANGUAGE;
}

/** Records the languages that translations name, in both forms that they have. */
export function collectLanguages(translations: unknown, into: Set<string>): void {
  if (typeof translations !== 'object' || translations === null) return;
  for (const [key, value] of Object.entries(translations)) {
    if (typeof value === 'string') into.add(key);
    else collectLanguages(value, into);
  }
}
