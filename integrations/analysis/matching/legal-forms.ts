import forms from './legal-forms.json' with { type: 'json' };
import { isRegionWord } from './regions.ts';
import { listed } from './vocabulary.ts';

const known = (byCountry: Readonly<Record<string, string>>) =>
  new Set(Object.values(byCountry).flatMap(listed));
/** Legal forms without blanks and punctuation: those recognised always, and those that are words if written without dots. */
const always = known(forms.always);
const withDots = known(forms.withDots);

/** Maximum words of a legal form (`GmbH & Co. KG`), and maximum letters of each word of a longer one (`Sp. z o.o.`). */
const MOST_WORDS = 5;
const LONGEST_WORD = 4;
/** Maximum characters at the end of a name that are searched for a legal form. */
const LONGEST_END = 80;
/** Maximum words after a legal form and a comma: `B.V., Rotterdam`. */
const MOST_AFTER = 3;
/** East Asian forms are on either side, without a blank. */
const UNSPACED =
  /^(?:株式会社|有限会社|合同会社|주식회사|\(株\)|㈜)\s*|\s*(?:株式会社|有限会社|合同会社|股份有限公司|有限责任公司|有限公司|주식회사|\(株\)|㈜)$/gu;
/** Dots of initials: `S. p. A.`, `L.L.C.`, `N .V.`; and at the end of words. */
const POINTS = /(?<![\p{L}\p{N}])((?:\p{L}\s?\.\s?){2,})|(?<=\p{L})\.(?=$|[\s,)])/gu;
const WORD = /[\p{L}\p{N}]+/gu;

/** Removes the legal forms at the end of a folded name, and a place after them, unless nothing else remains. */
export function withoutLegalForm(folded: string): string {
  const plain = folded.replace(POINTS, (_, initials?: string) =>
    initials ? `${initials.replace(/[.\s]/g, '')} ` : '',
  );
  const bare = plain.trim().replace(UNSPACED, '');
  const hasDots = folded.slice(-LONGEST_END).includes('.');
  const shortened = (name: string) => {
    const short = without(name, hasDots);
    return short === name ? undefined : short;
  };
  const short = shortened(beforeComma(bare)) ?? shortened(beforeRegion(bare)) ?? without(bare, hasDots);
  return /[\p{L}\p{N}]{2}/u.test(short) ? short : plain;
}

/** A name without a few words after its last comma: `B.V., Rotterdam`. */
function beforeComma(name: string): string {
  const comma = name.lastIndexOf(',');
  const after = comma < 0 ? null : name.slice(comma).match(WORD);
  return after !== null && after.length <= MOST_AFTER ? name.slice(0, comma) : '';
}

/** A name without a region at its end: `GmbH (Germany)`. */
function beforeRegion(name: string): string {
  const last = [...name.slice(-LONGEST_END).matchAll(WORD)].at(-1);
  if (!last || !isRegionWord(last[0])) return '';
  return name.slice(0, name.lastIndexOf(last[0])).replace(/[\s,(.&-]+$/, '');
}

function without(name: string, hasDots: boolean): string {
  let short = name.trim();
  for (;;) {
    const from = Math.max(0, short.length - LONGEST_END);
    const words = [...short.slice(from).matchAll(WORD)];
    const at = words.findIndex((_, first) => first > 0 && isForm(words.slice(first), hasDots));
    if (at < 0) return short;
    short = short.slice(0, from + words[at]!.index).replace(/(?:[\s,(.&-]|\sand$)+$/, '');
  }
}

function isForm(words: readonly RegExpExecArray[], hasDots: boolean): boolean {
  if (words.length > MOST_WORDS || (words.length > 1 && words.some(([word]) => word.length > LONGEST_WORD)))
    return false;
  const form = words.map(([word]) => word).join('');
  return always.has(form) || (withDots.has(form) && (hasDots || words.length > 1));
}
