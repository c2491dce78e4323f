import german from './question.german.json' with { type: 'json' };
import { asWritten, normalised, phraseOf, type Word, wordsOf } from './question.words.ts';

const ENDINGS = ['', 'e', 'en', 'er', 'es', 'em'];

/** English words by German phrase. */
const lexicon = new Map<string, Word[]>();
const plurals = new Set<string>();
for (const [english, phrases] of Object.entries(german.phrases)) {
  const words = wordsOf(english);
  for (const phrase of phrases.flatMap(inflected)) {
    const parts = phraseOf(phrase);
    // the first, more specific meaning wins
    if (!lexicon.has(parts.join(' '))) lexicon.set(parts.join(' '), words);
    // the first form of a noun is its singular
    if (phrase !== phrases[0]) plurals.add(parts.join(' '));
  }
}

/** The number of words of the longest phrase. */
const longest = Math.max(...Array.from(lexicon.keys(), (phrase) => phrase.split(' ').length));

function inflected(phrase: string): string[] {
  return phrase.endsWith('*') ? ENDINGS.map((ending) => phrase.slice(0, -1) + ending) : [phrase];
}

/** The words that build the passive before a participle. */
const PASSIVE = /^(wird|werden|ist|sind) /i;

/**
 * A relation's label in German as it stands in a translated question: `nutzt` is `use`; a verb that is not known stays, as
 * singular and plural, and `wird erzeugt von` is `erzeugt by`, and `erzeugt of` before a card.
 */
export function germanVerbs(label: string): string[] {
  const norms = phraseOf(label.replace(PASSIVE, ''));
  const read: string[] = [];
  for (let at = 0; at < norms.length; ) {
    const found = longestAt(norms, at);
    read.push(...(found?.words.map(({ norm }) => norm) ?? [norms[at]!]));
    at += found?.length ?? 1;
  }
  const [verb = '', ...rest] = read;
  if (PASSIVE.test(label) && /^(of|by|durch)$/.test(rest.at(-1) ?? ''))
    return ['by', 'of'].map((by) => [verb, ...rest.slice(0, -1), by].join(' '));
  // a verb of the lexicon is translated in any form
  const forms = norms[0] === verb ? formsOf(verb) : [verb];
  return forms.map((form) => [form, ...rest].join(' '));
}

/** A verb in the singular, and in the plural. */
const formsOf = (verb: string): string[] => [
  ...new Set([verb, ...['en', 'n'].map((ending) => verb.replace(/e?t$/, ending))]),
];

/** The verb of a relation's label in German, in its forms. */
export const germanVerb = (label: string): string[] => formsOf(phraseOf(label.replace(PASSIVE, ''))[0] ?? '');

const wordSet = (words: string[]): ReadonlySet<string> => new Set(words.flatMap(phraseOf));
const clauseVerbs = wordSet(german.clauseVerbs);
const clauseOpenings = wordSet(german.clauseOpenings);

/**
 * Translates the words of a German question into English ones; undefined if hardly any word is German. Unknown words, such
 * as names of the metamodel, are not changed.
 * @param nameAt the name of a card or of the metamodel that begins at a word: those of types precede German words of the same length.
 * @param isVerb whether a word that is not known is the verb of a relation.
 */
export function fromGerman(
  question: string,
  nameAt: (norms: readonly string[], at: number) => { length: number; isOwn: boolean } | undefined = () =>
    undefined,
  isVerb: (norm: string) => boolean = () => false,
): Word[] | undefined {
  const clauses = verbsFirst(wordsOf(withEnglishFigures(question)), isVerb);
  const words = withCompounds(withPredicate(withParticles(clauses)));
  const norms = words.map(({ kind, norm }) => (kind === 'word' || kind === 'number' ? norm : '"'));
  const read: Word[] = [];
  let known = 0;
  for (let at = 0; at < words.length; ) {
    const longest = longestAt(norms, at);
    const named = nameAt(norms, at);
    if (named && named.length + (named.isOwn ? 1 : 0) > (longest?.length ?? 0)) {
      const isPlural = plurals.has(norms.slice(at, at + named.length).join(' '));
      const name = words.slice(at, at + named.length);
      read.push(...(isPlural ? name.map((word) => ({ ...word, isPlural })) : name));
      at += named.length;
      continue;
    }
    const found = norms[at] === 'nach' && longest?.length !== 2 ? afterOrBy(words[at + 1]) : longest;
    if (!found) {
      read.push(words[at]!);
      known += Number(isVerb(norms[at]!));
      at += 1;
      continue;
    }
    // messages quote the original words
    const of = originals(words.slice(at, at + found.length));
    const text = asWritten(of);
    const isPlural = plurals.has(norms.slice(at, at + found.length).join(' '));
    read.push(...found.words.map((word) => ({ ...word, text, isPlural, of })));
    known += found.length;
    at += found.length;
  }
  // "Anwendungen je Anbieter" has one German word besides names
  return known > 1 || (known === 1 && !norms.some((norm) => englishOnly.has(norm))) ? read : undefined;
}

/** The words of the question that words stand for. */
const originals = (words: readonly Word[]): Word[] => words.flatMap((word) => word.of ?? [word]);

/** Words of English questions that are not German, too. */
const englishOnly: ReadonlySet<string> = new Set(german.englishOnly.map(normalised));

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

const particles = new Set(german.particles);

/** "hängen von Billing ab" as "abhängen von Billing". */
function withParticles(words: readonly Word[]): Word[] {
  const last = words.at(-1);
  if (!last || !particles.has(last.norm)) return [...words];
  const at = words.findIndex(({ norm }) => startsPhrase(`${last.norm}${norm}`));
  if (at < 0) return [...words];
  const [joined] = wordsOf(`${last.norm}${words[at]!.text.toLowerCase()}`);
  const text = `${words[at]!.text} … ${last.text}`;
  return [...words.slice(0, at), { ...joined!, text, at: words[at]!.at }, ...words.slice(at + 1, -1)];
}

const predicates = new Set(german.predicates.map(normalised));

/** "sind von Billing abhängig" as "sind abhängig von Billing". */
function withPredicate(words: readonly Word[]): Word[] {
  const last = words.at(-1);
  const at = words.findLastIndex(({ norm }) => /^(von|mit|auf)$/.test(norm));
  if (!last || at < 0 || !predicates.has(last.norm)) return [...words];
  return [...words.slice(0, at), last, ...words.slice(at, -1)];
}

const startsPhrase = (word: string): boolean =>
  [...lexicon.keys()].some((phrase) => phrase === word || phrase.startsWith(`${word} `));

/** Shorter parts of compounds are in too many other words. */
const SHORTEST_PART = 4;

/** "Anwendungskosten" as "Anwendung Kosten", if both parts are known. */
function withCompounds(words: readonly Word[]): Word[] {
  return words.flatMap((word, place) => {
    if (word.kind !== 'word' || startsPhrase(word.norm)) return [word];
    for (let at = SHORTEST_PART; at <= word.norm.length - SHORTEST_PART; at += 1) {
      const [head, rest] = [word.norm.slice(0, at), word.norm.slice(at)];
      const first = [head, head.replace(/(s|n|en)$/, '')].find((part) => lexicon.has(part));
      // "ohne Prozessbezug" is without processes
      if (
        first !== undefined &&
        /^(bezug|zuordnung|unterstutzung)$/.test(rest) &&
        /^(ohne|mit|kein)/.test(words[place - 1]?.norm ?? '')
      )
        return [{ ...word, norm: first }];
      if (first === undefined || !lexicon.has(rest)) continue;
      return [first, rest].map((norm) => ({ ...word, norm, of: [word] }));
    }
    return [word];
  });
}

/** 31.12.2027 is a day, 1,5 Mio. a figure. */
function withEnglishFigures(question: string): string {
  return (
    question
      .replace(
        /(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?![\d.])/g,
        (_, day: string, month: string, year: string) =>
          `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
      )
      .replace(/^wie verteil(?:t|en) sich (.+?) auf (?:die |den |das )?/i, 'Anzahl $1 je ')
      // "noch" alone is still
      .replace(/(?<=\bweder\b.*)\bnoch\b/gi, 'noch weder')
      .replace(/\bim Jahre? (?=\d{4}\b)/gi, 'im ')
      .replace(/(\d)\s?(?:Tsd\b\.?|Tausend\b)/gi, '$1k')
      .replace(/(\d)\s?(?:Mio\b\.?|Millionen\b)/gi, '$1m')
      .replace(/(\d)\s?(?:Mrd\b\.?|Milliarden\b)/gi, '$1bn')
  );
}

/** ", die vor 2028 enden" as ", die enden vor 2028". */
function verbsFirst(words: readonly Word[], isVerb: (norm: string) => boolean): Word[] {
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
    const verb = clause.findLastIndex(({ norm }) => clauseVerbs.has(norm) || isVerb(norm));
    if (verb > 0) clause.unshift(...clause.splice(verb, 1));
    // a clause after related cards is about these
    moved.push({ ...words[at + 1]!, norm: 'that' }, ...clause);
    at = end;
  }
  return moved;
}
