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
