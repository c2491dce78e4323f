import { between, mix, mulberry32, pick, type Random } from './random.ts';
import { businessWords, editions, endings, middles, onsets, technicalWords, vowels } from './words.data.ts';

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
  const words: string[] = [];
  while (words.length < count) {
    const middle = random() < 0.45 ? pick(random, middles) + pick(random, vowels) : '';
    const word =
      pick(random, onsets) + pick(random, vowels) + middle + pick(random, middles) + pick(random, endings);
    if (word.length < 6 || word.length > 11) continue;
    const near = [word, ...withoutOneLetter(word)];
    if (near.some((form) => taken.has(form))) continue;
    for (const form of near) taken.add(form);
    words.push(word[0]!.toUpperCase() + word.slice(1));
  }
  return words;
}

let coined: string[] | undefined;

interface Parts {
  coined: string;
  /** The second word or pair of words; no two cards share both the coined and this one. */
  subject: string;
  random: Random;
}

const SUBJECTS = Math.min(businessWords.length, technicalWords.length * editions.length);

const kinds = (words: string): string[] => words.split(' ');
const last = (words: string[]) => (parts: Parts) =>
  `${parts.coined} ${parts.subject} ${pick(parts.random, words)}`;

const patterns: Record<string, (parts: Parts) => string> = {
  Application: last(
    kinds(
      'Portal Suite Manager Desk Engine Hub Workbench Tracker Planner Console Studio Cockpit Register Calculator Assistant Monitor',
    ),
  ),
  ITComponent: ({ coined: word, subject, random }) =>
    `${word} ${subject} ${between(random, 1, 24)}.${between(random, 0, 9)}`,
  Interface: last(kinds('Feed API Export Import Sync Events Batch Lookup Transfer Callback')),
  BusinessCapability: ({ coined: word, subject, random }) =>
    `${subject} ${pick(random, kinds('Management Planning Control Analysis Execution Design Steering Support'))} for ${word}`,
  BusinessProcess: ({ coined: word, subject, random }) =>
    `${pick(random, kinds('Approve Check Close Correct Open Prepare Record Review Submit Update'))} ${subject} in ${word}`,
  DataObject: last(kinds('Record Profile Entry Position Document Event Balance Reference')),
  Organization: last(kinds('Team Department Unit Office Centre Branch')),
  Initiative: last(kinds('Migration Renewal Rollout Consolidation Programme Pilot Clean-up')),
  BusinessContext: last(kinds('Journey Product Stream Offer')),
  Provider: last(kinds('Ltd GmbH Inc Group Partners Systems')),
  Objective: ({ coined: word, subject, random }) =>
    `${pick(random, kinds('Faster Cheaper Safer Simpler Greener'))} ${subject} with ${word}`,
  TechCategory: last(kinds('Family Standards Class')),
  Platform: last(kinds('Platform')),
};

const technical = new Set(['ITComponent', 'TechCategory']);

/** The most cards that can be named. */
export const MAX_CARDS = COINED * SUBJECTS;

/**
 * The name of the card with the given number. Any two names differ in at least one whole word, and their
 * coined words in at least two letters.
 */
export function nameOf(
  type: string,
  number: number,
  seed: number,
  random: Random,
): { name: string; coined: string; subject: string } {
  coined ??= coinWords(COINED);
  const at = number % COINED;
  const round = Math.floor(number / COINED);
  // the same coined word walks through the subjects, from a start of its own
  const place = (mix(seed, at, 7) + round) % SUBJECTS;
  const subject = technical.has(type)
    ? `${technicalWords[place % technicalWords.length]!} ${editions[Math.floor(place / technicalWords.length)]!}`
    : businessWords[place]!;
  const word = coined[at]!;
  return { name: patterns[type]!({ coined: word, subject, random }), coined: word, subject };
}
