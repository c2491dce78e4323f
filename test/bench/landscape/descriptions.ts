import { between, pick, type Random } from './random.ts';
import { businessWords, places } from './words.data.ts';

const place = (random: Random) => pick(random, places);
const word = (random: Random) => pick(random, businessWords).toLowerCase();

const openings: ((random: Random, subject: string) => string)[] = [
  (random, subject) => `Covers ${subject} for the ${place(random)} branch and its partners.`,
  (random, subject) => `Standard for ${subject} since ${between(random, 1996, 2024)}.`,
  (random, subject) => `Came with the merger in ${place(random)} and still carries most of ${subject}.`,
  (random, subject) =>
    `Used by about ${between(random, 3, 900)} people who work on ${subject} and ${word(random)}.`,
  (random, subject) => `Brings ${subject}, ${word(random)} and ${word(random)} together in one place.`,
  (_, subject) => `Deals with ${subject} from first request to archive.`,
];

const continuations: ((random: Random) => string)[] = [
  (random) => `Feeds ${word(random)} every ${pick(random, ['hour', 'night', 'week', 'month'])}.`,
  (random) => `Depends on ${word(random)} data from ${place(random)}.`,
  (random) => `The team in ${place(random)} owns changes to it; ${word(random)} signs them off.`,
  (random) => `Exceptions for ${word(random)} are handled by hand.`,
  (random) =>
    `A review in ${between(random, 2019, 2026)} found ${between(random, 2, 40)} open points on ${word(random)}.`,
  (random) => `Support ends when the ${word(random)} contract does.`,
  (random) => `Peaks at ${between(random, 2, 95)} thousand transactions a day before quarter end.`,
  (random) => `Shares its ${word(random)} rules with ${place(random)} and ${place(random)}.`,
  (random) => `Nobody has asked for more ${word(random)} features lately.`,
];

/** Some plain sentences, none twice, 150 characters on average, between a short line and a paragraph. */
export function descriptionOf(subject: string, random: Random): string {
  const target = between(random, 50, 200);
  let text = pick(random, openings)(random, subject.toLowerCase());
  for (let at = between(random, 0, continuations.length - 1); text.length < target; at += 1) {
    text += ` ${continuations[at % continuations.length]!(random)}`;
  }
  return text;
}
