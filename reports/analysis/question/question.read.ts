import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { readSetting, type SettingValues } from '../../../domain/kernel/settings/settings.read.ts';
import type { ChartLanguage } from '../../kernel/charts/charts.texts.ts';
import { type CardLookUp, cardsIn, cardsWith, findCards, peopleIn, valuesWith } from './question.cards.ts';
import { QuestionCursor } from './question.cursor.ts';
import type { ReadQuestion, UnreadQuestion } from './question.draft.ts';
import { fromGerman } from './question.german.ts';
import type { Meaning } from './question.meanings.ts';
import { QuestionReader } from './question.reader.ts';
import { similarQuestion } from './question.refusal.ts';
import {
  createVocabulary,
  lookUp,
  type NamedTag,
  readTagNames,
  type Vocabulary,
  withCards,
} from './question.vocabulary.ts';
import { type Word, wordsOf } from './question.words.ts';

/** Maximum number of words of a question. */
const MOST_WORDS = 120;

/**
 * Interprets a question in English or German about cards of the inventory: names of the metamodel, and words for counting,
 * summing, grouping, dates and comparisons. It never guesses: a question with an unknown word is not answered.
 * @param today YYYY-MM-DD.
 */
export function readQuestion(
  vocabulary: Vocabulary,
  question: string,
  today: string,
): ReadQuestion | UnreadQuestion {
  const words = onlyAfterBy(wordsOf(question));
  if (words.length > MOST_WORDS)
    return { unknown: words.slice(MOST_WORDS).map(({ text }) => text), ambiguous: [] };
  const read = (of: readonly Word[], isTranslated = false) =>
    new QuestionReader(vocabulary, new QuestionCursor(of, today, vocabulary.texts), isTranslated).read();
  const found = read(words);
  if ('query' in found) return found;
  const translatedWith = (own: readonly Meaning['kind'][]) => {
    const nameAt = (norms: readonly string[], at: number) => {
      const named = lookUp(vocabulary, norms, at);
      return named && { length: named.length, isOwn: named.meanings.some(({ kind }) => own.includes(kind)) };
    };
    const english = fromGerman(question, nameAt, vocabulary.isVerb);
    return english ? read(english, true) : found;
  };
  const again = translatedWith(['type']);
  if ('query' in again) return again;
  // "mit TIME-Modell Migrieren": an option by its own name
  const byOptions = translatedWith(['type', 'option']);
  if ('query' in byOptions) return byOptions;
  return again.unknown.length < found.unknown.length ? again : found;
}

/** The vocabularies cached by metamodel and language, with their tags: these rarely change between questions. */
const made = new WeakMap<Metamodel, Map<ChartLanguage, { tags: string; vocabulary: Vocabulary }>>();

function vocabularyOf(
  metamodel: Metamodel,
  tags: readonly NamedTag[],
  costKinds: SettingValues['cost_kinds'],
  language: ChartLanguage = 'en',
): Vocabulary {
  const names = JSON.stringify([tags, costKinds]);
  const byLanguage = made.get(metamodel) ?? new Map();
  made.set(metamodel, byLanguage);
  const known = byLanguage.get(language);
  if (known?.tags === names) return known.vocabulary;
  const vocabulary = createVocabulary(metamodel, tags, language, costKinds);
  byLanguage.set(language, { tags: names, vocabulary });
  return vocabulary;
}

/** "only used by" and "used only by" as "used by only". */
function onlyAfterBy(words: readonly Word[]): Word[] {
  const moved = [...words];
  for (const [at, { norm }] of words.entries()) {
    if (norm !== 'only') continue;
    const by = [at + 1, at + 2].find((place) => words[place]?.norm === 'by');
    if (by !== undefined) moved.splice(by, 0, ...moved.splice(at, 1));
  }
  return moved;
}

/**
 * Interprets a question that can also name cards. First cards with exactly such a name are looked up, then, if words are still
 * unknown, cards with these words in their names.
 * @returns what was read, with the vocabulary that contains the cards.
 */
export async function readQuestionAboutCards(
  vocabulary: Vocabulary,
  cards: CardLookUp,
  question: string,
  today: string,
): Promise<{ found: ReadQuestion | UnreadQuestion; named: Vocabulary }> {
  const [known, people] = await Promise.all([cardsIn(cards, question), peopleIn(cards, question)]);
  const exact = [...known, ...people];
  const named = withCards(vocabulary, exact);
  const found = readQuestion(named, question, today);
  if ('query' in found || found.unknown.length === 0) return { found, named };
  const partial = await cardsWith(cards, question, found.unknown);
  const parts = partial.length > 0 ? partial : await valuesWith(vocabulary, cards, question, found.unknown);
  if (parts.length === 0) return { found, named };
  const partly = withCards(vocabulary, [...exact, ...parts]);
  const again = readQuestion(partly, question, today);
  return 'query' in again || again.unknown.length < found.unknown.length
    ? { found: again, named: partly }
    : { found, named };
}

/** A question as it was read, and how it can be read otherwise. */
interface ReadInventoryQuestion {
  found: ReadQuestion | UnreadQuestion;
  tags: NamedTag[];
  /** A similar question that is understood, and answered. @param canRun whether the caller may run a query. */
  similar(canRun: (query: ReadQuestion['query']) => Promise<boolean>): Promise<string | undefined>;
}

/**
 * Interprets a question with the names of the current metamodel, the tags, and the cards that the caller sees.
 * @param language of the interpretation, whatever that of the question.
 */
export async function readInventoryQuestion(
  ctx: Ctx,
  question: string,
  language: ChartLanguage = 'en',
): Promise<ReadInventoryQuestion> {
  const tags = await readTagNames(ctx.db);
  const today = new Date().toISOString().slice(0, 10);
  const costKinds = await readSetting(ctx.db, 'cost_kinds');
  const vocabulary = vocabularyOf(ctx.metamodel, tags, costKinds, language);
  // amounts are in the currency of the workspace in any case
  const currency = await readSetting(ctx.db, 'currency');
  const asked = question.replace(new RegExp(`\\s+in ${currency}(?=\\W|$)`, 'i'), '');
  const { found, named } = await readQuestionAboutCards(vocabulary, findCards(ctx), asked, today);
  const similar: ReadInventoryQuestion['similar'] = async (canRun) =>
    'query' in found
      ? undefined
      : await similarQuestion(named, asked, found, (text) => readQuestion(named, text, today), canRun);
  return { found, tags, similar };
}
