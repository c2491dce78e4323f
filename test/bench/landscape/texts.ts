import { between, mix, mulberry32, pick, type Random } from './random.ts';
import words from './words.json' with { type: 'json' };

const { businessWords, technicalWords, editions, places } = words;
const names: Record<string, string> = words.names;

/**
 * Fills the places of a template: `{1-9}` with a number, `{one|other}` with one of these, `{place}` and `{business}` with a word of
 * that kind, any other with the value of that name.
 */
export const fill = (template: string, random: Random, values: Record<string, string>): string =>
  template.replace(/\{(.+?)\}/g, (_, part: string) => {
    const [, from, to] = /^(\d+)-(\d+)$/.exec(part) ?? [];
    if (from !== undefined) return String(between(random, Number(from), Number(to)));
    if (part === 'place') return pick(random, places);
    if (part === 'business') return pick(random, businessWords).toLowerCase();
    return values[part] ?? pick(random, part.split('|'));
  });

/** How many coined words there are; each names some twenty cards of 100,000. */
const COINED = 5_000;
const SEED_OF_WORDS = 1;

/** All texts that one deletion makes; two words one typo apart share one of these or are one of the other's. */
const withoutOneLetter = (word: string): string[] =>
  Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1));

/**
 * Words that look like product names, none within one typo of another, so that a misspelt one still points to
 * the word that was meant. Independent of the landscape's seed.
 */
function coinWords(count: number): string[] {
  const random = mulberry32(SEED_OF_WORDS);
  const taken = new Set<string>();
  const coined: string[] = [];
  while (coined.length < count) {
    const middle = random() < 0.45 ? pick(random, words.middles) + pick(random, words.vowels) : '';
    const word =
      pick(random, words.onsets) +
      pick(random, words.vowels) +
      middle +
      pick(random, words.middles) +
      pick(random, words.endings);
    if (word.length < 6 || word.length > 11) continue;
    const near = [word, ...withoutOneLetter(word)];
    if (near.some((form) => taken.has(form))) continue;
    for (const form of near) taken.add(form);
    coined.push(word[0]!.toUpperCase() + word.slice(1));
  }
  return coined;
}

const coinedWords = coinWords(COINED);

const SUBJECTS = Math.min(businessWords.length, technicalWords.length * editions.length);
const technical = new Set(['ITComponent', 'TechCategory']);

/** The most cards that can be named. */
export const MAX_CARDS = COINED * SUBJECTS;

/**
 * The name of the card with the given number. Any two names differ in at least one whole word, and their
 * coined words in at least two letters.
 */
export function nameOf(type: string, number: number, seed: number, random: Random) {
  const at = number % COINED;
  const round = Math.floor(number / COINED);
  // the same coined word walks through the subjects, from a start of its own
  const place = (mix(seed, at, 7) + round) % SUBJECTS;
  const subject = technical.has(type)
    ? `${technicalWords[place % technicalWords.length]!} ${editions[Math.floor(place / technicalWords.length)]!}`
    : businessWords[place]!;
  const coined = coinedWords[at]!;
  return { name: fill(names[type]!, random, { coined, subject }), coined, subject };
}

/** Some plain sentences, none twice, 150 characters on average, between a short line and a paragraph. */
export function descriptionOf(subject: string, random: Random): string {
  const target = between(random, 50, 200);
  let text = fill(pick(random, words.openings), random, { subject: subject.toLowerCase() });
  for (let at = between(random, 0, words.continuations.length - 1); text.length < target; at += 1)
    text += ` ${fill(words.continuations[at % words.continuations.length]!, random, {})}`;
  return text;
}
