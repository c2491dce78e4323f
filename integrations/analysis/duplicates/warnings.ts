import { setTimeout as delay } from 'node:timers/promises';
import { type NamedCard, similarNames } from '../../../domain/inventory/cards/cards.similar.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { type Db, query, type Sql } from '../../../platform/database.ts';
import { fold } from '../../../platform/fold.ts';
import { unpack } from '../../../platform/pack.ts';
import { priorModel, scorePairs } from '../matching/match.ts';
import { type MatchModel, MODEL_FORMAT, type Vocabulary } from '../matching/matching.types.ts';
import { rawNameWords, umlautsIn } from '../matching/names.ts';
import { lettersAndDigits } from '../matching/normalise.ts';
import { ownWordsOf } from '../matching/own-words.ts';

/** Another card that probably represents the same object as the one that was written. */
export interface CardWarning {
  code: 'likely_duplicate';
  card_id: string;
  name: string;
  /** The probability that both are the same object, by their names. */
  confidence: number;
}

/** The least probability of a warning. */
const LEAST = 0.5;
/** The most warnings of a card. */
const MOST = 5;
/** The most spellings of a name, with other terms of the vocabulary, by which similar names are looked for. */
const MOST_SPELLINGS = 20;
/** The time after which a response is sent without warnings. */
const BUDGET_MS = 1_000;

/**
 * The visible active cards that a card with a new name probably duplicates, the most probable first. None if the check fails or
 * takes too long: the write is done already.
 */
export async function likelyDuplicates(
  ctx: Ctx,
  card: NamedCard & { type: string; status: string },
  readVocabulary: () => Promise<Vocabulary | undefined>,
): Promise<CardWarning[]> {
  if (card.status !== 'ACTIVE') return [];
  const check = async () => {
    const vocabulary = await readVocabulary();
    const [model, others] = await Promise.all([
      modelOf(ctx.db, card.type, vocabulary),
      similarNames(ctx, card, spellingsOf(card.name, vocabulary)),
    ]);
    const pairs = others.map((other) => [card, other] as const);
    return warningsOf(pairs, model).get(card.id) ?? [];
  };
  const found = check().catch((error): CardWarning[] => {
    ctx.log.warn({ err: error }, 'likely duplicates could not be looked for');
    return [];
  });
  return await Promise.race([found, delay(BUDGET_MS, [], { ref: false })]);
}

/** The name, and the name with other terms of the vocabulary. */
export const spellingsOf = (name: string, vocabulary: Vocabulary | undefined): string[] =>
  ownWordsOf(vocabulary).synonyms.spellingsOf(name, MOST_SPELLINGS);

/** The warnings of the left cards of pairs, by their ids: of likely matches, and of all with the same name. */
export function warningsOf(
  pairs: readonly (readonly [card: NamedCard, other: NamedCard])[],
  model: MatchModel,
): Map<string, CardWarning[]> {
  const records = new Map(pairs.flat().map(({ id, name }) => [id, { id, values: { name } }]));
  const names = [...records.values()].map(({ values }) => values.name);
  const ids = pairs.map(([card, other]) => [card.id, other.id] as const);
  const scores = scorePairs([...records.values()], ids, withUmlautsOf(names, model));
  const { synonyms } = ownWordsOf(model.vocabulary);
  const lettersIn = (name: string) => lettersOf(synonyms.written(name));
  const found = new Map<string, CardWarning[]>();
  for (const [at, [card, { id: card_id, name }]] of pairs.entries()) {
    const score = lettersIn(card.name) === lettersIn(name) ? Math.max(LEAST, scores[at]!) : scores[at]!;
    if (score < LEAST) continue;
    const confidence = Number(score.toFixed(3));
    addWarnings(found, card.id, [{ code: 'likely_duplicate', card_id, name, confidence }]);
  }
  return found;
}

/** The model with the umlauts that these names write both as one and as two letters: its list may have had none of them. */
function withUmlautsOf(names: readonly string[], model: MatchModel): MatchModel {
  const own = umlautsIn(names.map(rawNameWords));
  const umlauts = [...new Set([...model.dictionary.umlauts, ...own])].sort();
  return { ...model, dictionary: { ...model.dictionary, umlauts } };
}

/** Adds warnings to those of a card, of which the most probable remain. */
export function addWarnings<K>(found: Map<K, CardWarning[]>, key: K, more: readonly CardWarning[]): void {
  const byCard = new Map([...(found.get(key) ?? []), ...more].map((warning) => [warning.card_id, warning]));
  const all = [...byCard.values()];
  all.sort((a, b) => b.confidence - a.confidence || (a.card_id < b.card_id ? -1 : 1));
  found.set(key, all.slice(0, MOST));
}

/** The letters and digits of a name: names in which they are equal are the same. */
export const lettersOf = (name: string): string => lettersAndDigits(fold(name)) || name;

const prior = priorModel([{ name: 'name', kind: 'name' }]);
/** Unpacked models, by their ids, which are hashes of their contents; the last used ones. */
const models = new Map<string, Promise<MatchModel>>();
const MOST_MODELS = 8;

/** The model of the last search for duplicates among the cards of a type, else the prior, with a vocabulary. */
export async function modelOf(db: Db, type: string, vocabulary: Vocabulary | undefined): Promise<MatchModel> {
  return { ...(await lastModel(db, type)), vocabulary };
}

async function lastModel(db: Db, type: string): Promise<MatchModel> {
  const state = await db('duplicate_states').where({ card_type: type }).first('model_id');
  if (!state) return prior;
  const id: string = state.model_id;
  const model = models.get(id) ?? readModel(db, type);
  models.delete(id);
  models.set(id, model);
  model.catch(() => models.delete(id));
  if (models.size > MOST_MODELS) models.delete(models.keys().next().value!);
  return await model;
}

async function readModel(sql: Sql, type: string): Promise<MatchModel> {
  const row = await query(sql).row<{
    base_model: Buffer;
    weights: Pick<MatchModel, 'aspects' | 'priorBits'>;
  }>`select s.base_model, m.weights from duplicate_states s join duplicate_models m on m.id = s.model_id
    where s.card_type = ${type}`;
  const base = unpack<MatchModel>(row?.base_model);
  if (!row || base?.format !== MODEL_FORMAT) return prior;
  // decisions have adjusted the weights
  const { aspects, priorBits } = row.weights;
  return { ...base, aspects, priorBits };
}
