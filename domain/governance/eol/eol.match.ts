import { editDistance } from '../../../platform/edit-distance.ts';
import { typosAllowed, wordsOf } from '../../inventory/cards/cards.search.ts';

/** The properties of a product that are needed to find it by a name. */
export interface KnownName {
  name: string;
  label: string;
  aliases: string[];
  cycles: KnownCycle[];
}

interface KnownCycle {
  cycle: string;
  codename: string | null;
}

/** Normalises text for comparison: lower case without accents. */
export const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Names of makers and of kinds of software; a text that contains only these names no product. */
const weakWords = new Set(
  `microsoft apache oracle ibm apple amazon google vmware red hat redhat suse eclipse
   server database db os linux enterprise edition standard community software platform service services system
   application app cluster framework client virtual environment for of on the and`.split(/\s+/),
);
const isNumber = (word: string): boolean => /^v?\d/.test(word);
const weightOf = (word: string): number => (weakWords.has(word) || isNumber(word) ? 0.3 : 1);

interface Form {
  words: string[];
  joined: string;
}

const formOf = (text: string): Form => {
  const words = wordsOf(folded(text));
  return { words, joined: words.join('') };
};

/** Each form once; words that are parted otherwise are another one. */
const distinct = (forms: Form[]): Form[] => [
  ...new Map(forms.map((form) => [form.words.join(' '), form])).values(),
];

/** Products with precomputed data for comparisons with many names. */
export interface Matcher {
  /** The products that a text may mean, the likeliest first; scores of 0 to 1, at least `least`. */
  find(text: string, most: number, least: number): Match[];
  /** The cycle of a product that a text names, such as 15 in "PostgreSQL 15.4". */
  cycleIn(text: string, product: string): string | null;
}

interface Match {
  name: string;
  score: number;
}

/** The similarity of two words: 1 if equal, 0 if different. */
function nearness(asked: string, word: string): number {
  if (asked === word) return 1;
  if (asked.length >= 3 && word.startsWith(asked)) return 0.6 + (0.3 * asked.length) / word.length;
  const most = typosAllowed(asked);
  if (most === 0) return 0;
  const typos = editDistance(asked, word, most);
  return typos > most ? 0 : 0.9 - 0.15 * typos;
}

/** 0 for none, towards 1 for many. */
const share = (count: number): number => count / (1 + count);

/**
 * How likely a text means the product of this form. Words of the product that the text lacks count against it, words
 * that the text has besides (versions, places, what it is used for) much less.
 */
function scoreOf(asked: Form, form: Form): number {
  if (asked.joined === form.joined) return 1;
  let found = 0;
  let total = 0;
  const used = new Set<string>();
  let strong = false;
  for (const word of form.words) {
    const weight = weightOf(word);
    total += weight;
    let best = 0;
    let by = '';
    for (const candidate of asked.words) {
      const near = nearness(candidate, word);
      if (near > best) [best, by] = [near, candidate];
    }
    if (best === 0) continue;
    found += weight * best;
    used.add(by);
    if (weight === 1) strong = true;
  }
  // A name that consists of common words, such as Oracle Database, must occur completely.
  if (total === 0 || (!strong && found < total * 0.99)) return 0;
  const rest = asked.words.filter((word) => !used.has(word));
  const strange = rest.filter((word) => weightOf(word) === 1).length;
  // Apache alone is the web server, but followed by another name it is the maker.
  if (!strong && form.words.length === 1 && strange > 0) return 0;
  // a server of windows is nearer to Windows Server than to Windows
  const vague = rest.filter((word) => weakWords.has(word)).length;
  return (found / total) * (1 - 0.25 * share(strange)) * (1 - 0.1 * share(vague));
}

/** Makes products ready to be found. */
export function createMatcher(products: readonly KnownName[]): Matcher {
  const forms = products.map(({ name, label, aliases }) => ({
    name,
    forms: distinct([label, name, ...aliases].map(formOf)),
  }));
  const byName = new Map(products.map((product) => [product.name, product]));
  // The products that a word may match, by its first and last letters; a typo changes only one of them.
  const byWord = new Map<string, Set<number>>();
  const note = (key: string, index: number) => {
    const set = byWord.get(key) ?? new Set();
    set.add(index);
    byWord.set(key, set);
  };
  for (const [index, { forms: each }] of forms.entries()) {
    for (const { words, joined } of each) {
      for (const word of [...words, joined]) for (const key of keysOf(word)) note(key, index);
    }
  }
  return {
    find(text, most, least) {
      const asked = formOf(text);
      const indexes = new Set<number>();
      for (const word of [...asked.words, asked.joined]) {
        for (const key of keysOf(word)) for (const index of byWord.get(key) ?? []) indexes.add(index);
      }
      const matches: Match[] = [];
      for (const index of indexes) {
        const { name, forms: each } = forms[index]!;
        const score = Math.round(1000 * Math.max(...each.map((form) => scoreOf(asked, form)))) / 1000;
        if (score >= least) matches.push({ name, score });
      }
      matches.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
      return matches.slice(0, most);
    },
    cycleIn(text, product) {
      return cycleNamed(text, byName.get(product)?.cycles ?? []);
    },
  };
}

/** Keys under which a word and those it may be a misspelling of meet. */
const keysOf = (word: string): string[] => [`<${word.slice(0, 3)}`, `>${word.slice(-3)}`];

/** Numbers with dots, also behind a `v` and before letters: 19 in `19c`. */
const VERSION = /(?<![\p{L}\p{N}.])v?(\d+(?:\.\d+)*)/giu;

const NUMBERS = /^[\d.]+$/;

/** The cycle in a text: by its display name, its name, or a version that belongs to it. */
function cycleNamed(text: string, cycles: readonly KnownCycle[]): string | null {
  const plain = ` ${wordsOf(folded(text)).join(' ')} `;
  const says = (name: string | null) =>
    name !== null && plain.includes(` ${wordsOf(folded(name)).join(' ')} `);
  const byLength = [...cycles].sort((a, b) => b.cycle.length - a.cycle.length);
  const named =
    byLength.find(({ codename }) => says(codename)) ??
    byLength.find(({ cycle }) => !NUMBERS.test(cycle) && says(cycle));
  if (named) return named.cycle;
  for (const [, version] of text.matchAll(VERSION)) {
    const found = byLength.find(({ cycle }) => version === cycle || version!.startsWith(`${cycle}.`));
    if (found) return found.cycle;
  }
  return null;
}
