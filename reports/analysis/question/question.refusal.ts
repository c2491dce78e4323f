import type { ReadQuestion, UnreadQuestion } from './question.draft.ts';
import german from './question.german.json' with { type: 'json' };
import grammar from './question.grammar.json' with { type: 'json' };
import type { Vocabulary } from './question.vocabulary.ts';
import { normalised } from './question.words.ts';

/** Shorter words are too similar to many others. */
const SHORTEST_WORD = 5;
/** Two letters can differ in longer ones. */
const LONG_WORD = 8;
/** With more unknown words, none of them is corrected. */
const MOST_CORRECTED = 5;

/**
 * A question that is similar to one that was not understood, and is understood: with a misspelt word corrected, an ambiguous
 * word replaced by its first meaning, or without the words that are unknown. It has all words that were understood.
 * @param read interprets a question with the vocabulary.
 * @param canRun whether the caller gets an answer.
 */
export async function similarQuestion(
  vocabulary: Vocabulary,
  question: string,
  { unknown, ambiguous }: UnreadQuestion,
  read: (question: string) => ReadQuestion | UnreadQuestion,
  canRun: (query: ReadQuestion['query']) => Promise<boolean>,
): Promise<string | undefined> {
  const known = unknown.length > MOST_CORRECTED ? new Set<string>() : knownWords(vocabulary);
  const corrected = unknown.reduce(
    (text, word) => replaced(text, word, closest(known, word) ?? word),
    question,
  );
  const chosen = ambiguous.reduce((text, { text: phrase, meanings }) => {
    const label = meanings[0]?.replace(/ \([^()]*\)$/, '');
    return label ? replaced(text, phrase, label) : text;
  }, corrected);
  const counting = grammar.counting.find((words) => replaced(question, words, '') !== question) ?? '?';
  const listed = replaced(question, counting, 'which');
  // "cost by provider" as "cost of Applications by provider"
  const typed = ambiguous.flatMap(({ text }) =>
    vocabulary.metamodel.visibleTypes.map((key) => {
      const { plural } = vocabulary.labels.cardTypes.get(key)!;
      return replaced(corrected, text, vocabulary.texts.say('question.similar.ofType', { text, plural }));
    }),
  );
  const candidates = [listed, corrected, ...typed, chosen, ...shortened(question, unknown)];
  const doubted = [...unknown, ...ambiguous.map(({ text }) => text)].flatMap(tellingWords);
  const kept = tellingWords(question).filter((word) => !doubted.includes(word));
  for (const candidate of candidates) {
    const text = candidate.replace(/\s+/g, ' ').trim().replace(dangling, '$1');
    const words = new Set(tellingWords(text));
    if (text === question.trim() || !kept.every((word) => words.has(word))) continue;
    const found = read(text);
    if (!('query' in found) || countsAll(found.query)) continue;
    if (await canRun(found.query)) return text;
  }
  return undefined;
}

/** Whether nothing of a question remains but how many cards there are. */
const countsAll = ({ from, filter, dimensions, measures }: ReadQuestion['query']): boolean =>
  !from?.length &&
  !filter &&
  dimensions.length === 0 &&
  measures.every(({ fn, field }) => fn === 'count' && field === undefined);

const replaced = (text: string, of: string, by: string) =>
  text.replace(new RegExp(`(?<!\\p{L})${escaped(of)}(?!\\p{L})`, 'iu'), by);

/** The question without the words that are unknown, unless a word joins or negates others. */
function shortened(question: string, unknown: readonly string[]): string[] {
  const words = question.split(/[^\p{L}\p{N}]+/u).map(normalised);
  if (unknown.some((word) => word.includes('…')) || words.some((word) => joining.has(word))) return [];
  return [unknown.reduce((text, word) => replaced(text, word, ''), question)];
}

const joining = new Set(['or', 'nor', 'not', 'no', 'oder', 'nicht', 'kein', 'keine', 'weder', 'noch']);

/** Words that say nothing of their own. */
const weak = new Set(
  [...grammar.ignored, ...grammar.counting, ...grammar.listing, ...grammar.asking, ...german.weak].flatMap(
    (phrase) => phrase.split(' ').map(normalised),
  ),
);

/** The other words of a question. */
const tellingWords = (text: string): string[] =>
  text
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map(normalised)
    .filter((word) => !weak.has(word));

/** Prepositions, verbs and articles that nothing follows. */
const dangling =
  / ?(?:\b(?:a[mnt]?|and|are|aus|bei|by|das|de[mnrs]|die|for|from|ha[sd]|have|i[mns]|je|mit|nach|o[fnr]|per|pro|sind|the|to|und|use|using|von|with|zu)\b ?)*([?.]?)$/iu;

const escaped = (text: string): string =>
  text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(' … ', '\\b.*\\b');

function knownWords({ phrases }: Vocabulary): Set<string> {
  const words = new Set<string>();
  for (const phrase of phrases.keys())
    for (const word of phrase.split(' ')) if (word.length >= SHORTEST_WORD) words.add(word);
  return words;
}

/** The known word that differs least from a misspelt one, and begins with the same letter. */
function closest(known: ReadonlySet<string>, word: string): string | undefined {
  const norm = normalised(word);
  if (norm.length < SHORTEST_WORD || known.has(norm)) return undefined;
  const most = norm.length < LONG_WORD ? 1 : 2;
  let best: { word: string; changes: number } | undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - norm.length) > most || candidate[0] !== norm[0]) continue;
    const changes = changesBetween(norm, candidate);
    if (changes <= most && changes < (best?.changes ?? most + 1)) best = { word: candidate, changes };
  }
  return best?.word;
}

/** The Levenshtein distance. */
function changesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...a].entries()) {
    const next = [at + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const same = letter === b[column - 1] ? 0 : 1;
      next.push(Math.min(next[column - 1]! + 1, row[column]! + 1, row[column - 1]! + same));
    }
    row = next;
  }
  return row[b.length]!;
}
