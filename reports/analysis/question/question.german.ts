import german from './question.german.json' with { type: 'json' };
import { phraseOf, type Word, wordsOf } from './question.words.ts';

const ENDINGS = ['', 'e', 'en', 'er', 'es', 'em'];

/** English words by German phrase. */
const lexicon = new Map<string, Word[]>();
for (const [english, phrases] of Object.entries(german.phrases)) {
  const words = wordsOf(english);
  for (const phrase of phrases.flatMap(inflected)) {
    const parts = phraseOf(phrase);
    // the first, more specific meaning wins
    if (!lexicon.has(parts.join(' '))) lexicon.set(parts.join(' '), words);
  }
}

/** The number of words of the longest phrase. */
const longest = Math.max(...Array.from(lexicon.keys(), (phrase) => phrase.split(' ').length));

function inflected(phrase: string): string[] {
  return phrase.endsWith('*') ? ENDINGS.map((ending) => phrase.slice(0, -1) + ending) : [phrase];
}

const wordSet = (words: string[]): ReadonlySet<string> => new Set(words.flatMap(phraseOf));
const clauseVerbs = wordSet(german.clauseVerbs);
const clauseOpenings = wordSet(german.clauseOpenings);

/**
 * Translates the words of a German question into English ones; undefined if hardly any word is German. Unknown words, such
 * as names of the metamodel, are not changed.
 */
export function fromGerman(question: string): Word[] | undefined {
  const words = verbsFirst(wordsOf(withEnglishFigures(question)));
  const norms = words.map(({ kind, norm }) => (kind === 'word' || kind === 'number' ? norm : '"'));
  const read: Word[] = [];
  let known = 0;
  for (let at = 0; at < words.length; ) {
    const found = norms[at] === 'nach' ? afterOrBy(words[at + 1]) : longestAt(norms, at);
    if (!found) {
      read.push(words[at]!);
      at += 1;
      continue;
    }
    const text = words
      .slice(at, at + found.length)
      .map((word) => word.text)
      .join(' ');
    // messages quote the original word
    read.push(...found.words.map((word) => ({ ...word, text })));
    known += found.length;
    at += found.length;
  }
  return known > 1 ? read : undefined;
}

function longestAt(norms: readonly string[], at: number): { words: Word[]; length: number } | undefined {
  for (let length = Math.min(longest, norms.length - at); length > 0; length -= 1) {
    const words = lexicon.get(norms.slice(at, at + length).join(' '));
    if (words) return { words, length };
  }
  return undefined;
}

/** "nach 2027" is later, "nach Anbieter" by group. */
function afterOrBy(next: Word | undefined): { words: Word[]; length: number } {
  const isTime =
    next?.kind === 'number' || next?.kind === 'day' || /^(q[1-4]|ende|dem)$/.test(next?.norm ?? '');
  if (next?.norm === 'dem') return { words: wordsOf('after'), length: 2 };
  return { words: wordsOf(isTime ? 'after' : 'by'), length: 1 };
}

/** 31.12.2027 is a day, 1,5 Mio. a figure. */
function withEnglishFigures(question: string): string {
  return question
    .replace(
      /(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?![\d.])/g,
      (_, day: string, month: string, year: string) =>
        `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
    )
    .replace(/(\d)\s?(?:Tsd\b\.?|Tausend\b)/gi, '$1k')
    .replace(/(\d)\s?(?:Mio\b\.?|Millionen\b)/gi, '$1m')
    .replace(/(\d)\s?(?:Mrd\b\.?|Milliarden\b)/gi, '$1bn');
}

/** ", die vor 2028 enden" as ", die enden vor 2028". */
function verbsFirst(words: readonly Word[]): Word[] {
  const moved: Word[] = [];
  for (let at = 0; at < words.length; ) {
    const begins = words[at]!.kind === 'comma' && clauseOpenings.has(words[at + 1]?.norm ?? '');
    if (!begins) {
      moved.push(words[at]!);
      at += 1;
      continue;
    }
    const next = words.findIndex((word, place) => place > at + 1 && word.kind === 'comma');
    const end = next < 0 ? words.length : next;
    const clause = words.slice(at + 2, end);
    const verb = clause.findLastIndex(({ norm }) => clauseVerbs.has(norm));
    if (verb > 0) clause.unshift(...clause.splice(verb, 1));
    moved.push(...clause);
    at = end;
  }
  return moved;
}
