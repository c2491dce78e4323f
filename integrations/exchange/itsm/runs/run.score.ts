import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { chunksOf } from '../../../../platform/chunks.ts';
import { matchListsInSteps } from '../../../analysis/matching/match.ts';
import type {
  Evidence,
  MatchField,
  MatchModel,
  MatchOptions,
  MatchPair,
  MatchRecord,
  MatchResult,
  Vocabulary,
} from '../../../analysis/matching/matching.types.ts';
import type { ScoredPair } from '../engine/match.ts';
import type { Path } from '../engine/model.types.ts';
import type { MatchItem } from '../engine/plan.types.ts';

/** Almost certain pairs are linked. Pairs that compete with others are read down to a low probability. */
const thresholds = { match: 0.95, possible: 0.01 };
/** Pairs that are at least this likely if no other pair competes with them become review items. */
const POSSIBLE = 0.5;
/** The least probability of pairs with the same name and different identity codes, which speak against each other. */
const DISPUTED = 0.1;
/** Codes with a lower similarity are different; names with at least this similarity are equal. */
const DIFFERENT_CODE = 0.6;
const SAME_NAME = 0.8;
/** The number of characters that are compared. */
const TEXT = 500;

/** Lists up to `whole` are compared at once; longer ones in parts of `records` and `cards`. */
export interface PartSizes {
  whole: number;
  records: number;
  cards: number;
}

/** These sizes need about 200 MB. */
const defaultPartSizes: PartSizes = { whole: 10_000, records: 10_000, cards: 25_000 };

/**
 * Scores the similarity of records and cards by the mapped text fields. Yields to the event loop between steps. Longer lists are
 * compared in parts with the model of the first part; a card that is similar to records of several parts is scored for each.
 */
export async function scoreSimilar(
  mapping: Mapping,
  {
    records,
    cards,
    vocabulary,
  }: { records: MatchItem[]; cards: MatchItem[]; vocabulary?: Vocabulary | undefined },
  signal: AbortSignal,
  parts: PartSizes = defaultPartSizes,
): Promise<ScoredPair[]> {
  const fields = matchFields(mapping);
  if (fields.length === 0) return [];
  const identities = mapping.fields
    .filter(
      ({ card_field, is_identity }) =>
        is_identity && fields.some(({ name, kind }) => name === card_field && kind === 'code'),
    )
    .map(({ card_field }) => card_field);
  const isWhole = records.length <= parts.whole && cards.length <= parts.whole;
  const scored: ScoredPair[] = [];
  let model: MatchModel | undefined;
  for (const someCards of isWhole ? [cards] : chunksOf(cards, parts.cards)) {
    for (const someRecords of isWhole ? [records] : chunksOf(records, parts.records)) {
      const options: MatchOptions = {
        fields,
        vocabulary,
        thresholds,
        from: isWhole ? 'both' : 'left',
        ...(model && { model }),
      };
      const result = await compare(someRecords, someCards, options, signal);
      model ??= result.model;
      for (const pair of result.pairs) scored.push(scoredOf(pair, identities));
    }
  }
  return scored;
}

async function compare(
  records: MatchItem[],
  cards: MatchItem[],
  options: MatchOptions,
  signal: AbortSignal,
): Promise<MatchResult> {
  const recordOf = ({ id, fields: values }: MatchItem): MatchRecord => ({
    id,
    values: Object.fromEntries(
      options.fields.map(({ name }) => {
        const value = values[name];
        if (typeof value === 'string') return [name, value.slice(0, TEXT)];
        return [name, typeof value === 'number' ? value : null];
      }),
    ),
  });
  const steps = matchListsInSteps(records.map(recordOf), cards.map(recordOf), options);
  let step = steps.next();
  while (!step.done) {
    await yieldToEventLoop();
    signal.throwIfAborted();
    step = steps.next();
  }
  return step.value;
}

/**
 * A pair with its verdict. Pairs with different identity codes are never linked, only reviewed if the names are equal. Equal names
 * are always reviewed, also those of many cards, which say little about which one is meant.
 */
function scoredOf(
  { left, right, score, alone, class: verdict, evidence }: MatchPair,
  identities: Path[],
): ScoredPair {
  const isDisputed = identities.some((path) => similarityOf(evidence, path, 1) < DIFFERENT_CODE);
  const isSimilar = isDisputed
    ? score >= DISPUTED && similarityOf(evidence, 'name', 0) >= SAME_NAME
    : alone >= POSSIBLE || similarityOf(evidence, 'name', 0) === 1;
  return {
    remoteId: left,
    cardId: right,
    score,
    verdict: isSimilar && verdict !== 'no' ? (isDisputed ? 'possible' : verdict) : 'no',
    reason: evidence
      .filter(({ similarity, bits }) => similarity !== null && bits !== 0)
      .map(({ aspect, similarity }) => `${aspect} ${Math.round((similarity ?? 0) * 100)} %`)
      .join(', '),
  };
}

const similarityOf = (evidence: readonly Evidence[], name: string, otherwise: number): number =>
  evidence.find(({ aspect }) => aspect === name)?.similarity ?? otherwise;

/** The fields whose similarity is scored: names and other texts, but no references, dates or booleans. */
function matchFields({ fields }: Mapping): MatchField[] {
  return fields.flatMap(({ card_field: path, transform_type: transform, is_identity }): MatchField[] => {
    if (transform === 'reference' || transform === 'date_format' || transform === 'boolean') return [];
    if (path === 'name' || path === 'alias') return [{ name: path, kind: 'name' }];
    if (path === 'description') return [{ name: path, kind: 'text', weight: 0.5 }];
    if (is_identity || path === 'external_id') return [{ name: path, kind: 'code' }];
    return transform === 'value_map' ? [{ name: path, kind: 'choice', weight: 0.5 }] : [];
  });
}
