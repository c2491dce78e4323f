import type { ReadQuestion, UnreadQuestion } from './question.draft.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { Vocabulary } from './question.vocabulary.ts';
import { normalised } from './question.words.ts';

/** Shorter words are too similar to many others. */
const SHORTEST_WORD = 5;
const MOST_CHANGES = 2;
/** With more unknown words, none of them is corrected. */
const MOST_CORRECTED = 5;

/**
 * A question that is similar to one that was not understood, and is understood: with a misspelt word corrected, an ambiguous
 * word replaced by its first meaning, or without the words that are unknown.
 * @param read interprets a question with the vocabulary.
 */
export function similarQuestion(
  vocabulary: Vocabulary,
  question: string,
  { unknown, ambiguous }: UnreadQuestion,
  read: (question: string) => ReadQuestion | UnreadQuestion,
): string | undefined {
  const known = unknown.length > MOST_CORRECTED ? new Set<string>() : knownWords(vocabulary);
  const replaced = (text: string, of: string, by: string) =>
    text.replace(new RegExp(`(?<!\\p{L})${escaped(of)}(?!\\p{L})`, 'iu'), by);
  const corrected = unknown.reduce(
    (text, word) => replaced(text, word, closest(known, word) ?? word),
    question,
  );
  const chosen = ambiguous.reduce((text, { text: phrase, meanings }) => {
    const label = meanings[0]?.replace(/ \([^()]*\)$/, '');
    return label ? replaced(text, phrase, label) : text;
  }, corrected);
  const shortened = unknown.reduce((text, word) => replaced(text, word, ''), chosen);
  const counting = grammar.counting.find((words) => replaced(question, words, '') !== question) ?? '?';
  const listed = replaced(question, counting, 'which');
  // "cost by provider" as "cost of Applications by provider"
  const typed = ambiguous.flatMap(({ text }) =>
    vocabulary.metamodel.visibleTypes.map((key) => {
      const { plural } = vocabulary.labels.cardTypes.get(key)!;
      return replaced(corrected, text, vocabulary.texts.say('question.similar.ofType', { text, plural }));
    }),
  );
  const candidates = [listed, corrected, ...typed, chosen, shortened, ...typeQuestions(vocabulary, question)];
  return candidates
    .map((text) => text.replace(/\s+/g, ' ').trim().replace(dangling, '$1'))
    .find((text) => text !== question.trim() && 'query' in read(text));
}

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

/** The known word that differs least from a misspelt one. */
function closest(known: ReadonlySet<string>, word: string): string | undefined {
  const norm = normalised(word);
  if (norm.length < SHORTEST_WORD || known.has(norm)) return undefined;
  let best: { word: string; changes: number } | undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - norm.length) > MOST_CHANGES) continue;
    const changes = changesBetween(norm, candidate);
    if (changes <= MOST_CHANGES && changes < (best?.changes ?? MOST_CHANGES + 1))
      best = { word: candidate, changes };
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

/** Questions about the types that are named, or about all cards. */
function typeQuestions({ phrases, texts }: Vocabulary, question: string): string[] {
  const norms = ` ${question
    .split(/[^\p{L}\p{N}]+/u)
    .map(normalised)
    .join(' ')} `;
  const labels = [...phrases.entries()].flatMap(([phrase, meanings]) =>
    norms.includes(` ${phrase} `)
      ? meanings.flatMap((meaning) => (meaning.kind === 'type' ? [meaning.label] : []))
      : [],
  );
  return [
    ...labels.map((label) => texts.say('question.similar.phases', { label })),
    texts.say('question.similar.types'),
  ];
}
