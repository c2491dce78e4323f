import { typosAllowed, wordsOf } from './cards.search.words.ts';

/** A card that may be meant, with folded texts. */
export interface Candidate {
  id: string;
  name: string;
  alias: string | null;
  externalId: string | null;
  /** Found by all words of the query, some of which may stand in the description alone. */
  complete: boolean;
}

const PREFIX_COST = 0.15;
const INFIX_COST = 0.5;
const TYPO_COST = 0.6;
const FURTHER_TYPO_COST = 0.25;
const ELSEWHERE_COST = 0.35;
const UNASKED_COST = 0.3;
const DESCRIPTION_COST = 1.1;
const MISSING_COST = 1.3;
const SHORTEST_INFIX = 3;

/**
 * Edits that turn one text into the other, swapped neighbours being one (optimal string alignment); `most + 1`
 * when there are more than `most`.
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const changed = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + changed);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      }
      row.push(cost);
      if (cost < least) least = cost;
    }
    if (least > most) return most + 1;
    beforeLast = last;
    last = row;
  }
  return Math.min(last[b.length]!, most + 1);
}

/** How far a word of the query is from a word of a card: 0 for the same; undefined for another word. */
function wordCost(query: string, word: string): number | undefined {
  if (word === query) return 0;
  if (word.startsWith(query)) return PREFIX_COST * (2 - query.length / word.length);
  if (query.length >= SHORTEST_INFIX && word.includes(query)) return INFIX_COST;
  const most = typosAllowed(query);
  if (most === 0) return undefined;
  const typos = editDistance(query, word, most);
  return typos > most ? undefined : TYPO_COST + FURTHER_TYPO_COST * (typos - 1);
}

function bestCost(query: string, words: string[]): number | undefined {
  let best: number | undefined;
  for (const word of words) {
    const cost = wordCost(query, word);
    if (cost !== undefined && (best === undefined || cost < best)) best = cost;
    if (best === 0) break;
  }
  return best;
}

interface Query {
  folded: string;
  words: string[];
  /** All letters and digits without the blanks between them. */
  joined: string;
  digits: string;
}

const digits = (text: string) => text.replace(/\P{N}/gu, '');

interface Score {
  /** The lower the nearer. */
  value: number;
  /** Words of the query that the card has nowhere. */
  missing: number;
}

/** How near a card is to the query; undefined for one that is not meant. */
function score(query: Query, card: Candidate): Score | undefined {
  if (card.name === query.folded) return { value: -3, missing: 0 };
  if (card.externalId === query.folded || card.alias === query.folded) return { value: -2, missing: 0 };
  const nameWords = wordsOf(card.name);
  const otherWords = wordsOf(`${card.alias ?? ''} ${card.externalId ?? ''}`);
  let sum = 0;
  let missing = 0;
  for (const word of query.words) {
    const inName = bestCost(word, nameWords);
    const elsewhere = inName === 0 ? undefined : bestCost(word, otherWords);
    const cost = Math.min(inName ?? Infinity, (elsewhere ?? Infinity) + ELSEWHERE_COST);
    if (cost !== Infinity) sum += cost;
    else if (card.complete) sum += DESCRIPTION_COST;
    else missing += 1;
  }
  // a blank too many or too few makes other words of the same letters
  const joined = missing > 0 ? nameWords.join('') : '';
  const typos = missing > 0 && digits(joined) === query.digits ? editDistance(query.joined, joined, 2) : 3;
  if (typos <= 2) {
    sum = TYPO_COST + FURTHER_TYPO_COST * typos;
    missing = 0;
  } else {
    if (missing > 1 || (missing === 1 && query.words.length === 1)) return undefined;
    sum += MISSING_COST * missing;
  }
  const phrase = card.name.startsWith(query.folded) ? 1 : 0;
  const unasked = 1 - Math.min(1, query.words.length / Math.max(1, nameWords.length));
  return { value: sum / query.words.length - phrase + UNASKED_COST * unasked, missing };
}

/**
 * The candidates that a query may mean, the likeliest first: the exact name, then the exact alias or external id,
 * names that begin with the query, names with its words, with words that begin so, with misspelt words; words
 * found in the description alone count least. Cards that lack a word are meant only where none has them all.
 */
export function rankCandidates(folded: string, words: string[], candidates: Candidate[]): Candidate[] {
  const joined = wordsOf(folded).join('');
  const query: Query = { folded: folded.trim(), words, joined, digits: digits(joined) };
  const scored: (Score & { card: Candidate })[] = [];
  for (const card of candidates) {
    const found = score(query, card);
    if (found) scored.push({ ...found, card });
  }
  const least = Math.min(...scored.map(({ missing }) => missing));
  const meant = scored.filter(({ missing }) => missing === least);
  meant.sort(
    (a, b) =>
      a.value - b.value ||
      (a.card.name < b.card.name ? -1 : a.card.name > b.card.name ? 1 : a.card.id < b.card.id ? -1 : 1),
  );
  return meant.map(({ card }) => card);
}
