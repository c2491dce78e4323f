/** Maximum characters of a value that are compared. */
const LONGEST_TEXT = 4_000;

/** Transcriptions of letters that Unicode does not decompose. */
const SPELLED: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};
const SPELLED_LETTERS = new RegExp(`[${Object.keys(SPELLED).join('')}]`, 'g');

/**
 * Normalises a text for comparison: compatibility forms (NFKC), lower case, without accents of Latin, Greek and Cyrillic letters
 * (marks of other scripts are significant), `&` expanded, without apostrophes, single blanks, at most LONGEST_TEXT characters.
 */
export function fold(text: string): string {
  return text
    .slice(0, LONGEST_TEXT)
    .toWellFormed()
    .normalize('NFKD')
    .slice(0, LONGEST_TEXT)
    .toWellFormed()
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(SPELLED_LETTERS, (letter) => SPELLED[letter]!)
    .replace(/(?<=\p{L})['’ʼ`´](?=\p{L})/gu, '')
    .replace(/&/g, ' and ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The letters and digits of a folded text. */
export const lettersAndDigits = (folded: string): string => folded.replace(/[^\p{L}\p{M}\p{N}]+/gu, '');

/** Longer texts are not memoized. */
const LONGEST = 200;

/** Memoizes a function for up to `most` texts of at most 200 characters. */
export function memoized<T>(make: (text: string) => T, most: number): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (text.length > LONGEST) return make(text);
    if (known.size >= most) known.clear();
    const made = make(text);
    known.set(text, made);
    return made;
  };
}
