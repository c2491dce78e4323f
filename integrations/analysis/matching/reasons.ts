import {
  ALL_CODES,
  ALL_WORDS,
  type MatchModel,
  type MatchPair,
  type MatchRecord,
  NUMBERS,
  RARITY,
} from './matching.types.ts';
import { plainNameWords } from './names.ts';
import { ownWordsOf } from './own-words.ts';
import { itemsOf, textOf } from './records.ts';
import { type Variant, variantOf } from './variants.ts';

/** Maximum characters of a shown value. */
const LONGEST_SHOWN = 60;
/** Minimum change of a probability by other pairs that is listed. */
const LEAST_CHANGE = 0.05;
/** Below this rarity other records are expected to have the same words by chance. */
const FREQUENT = 0.25;
/** Minimum bits of a listed reason. */
const LEAST_BITS = 0.1;

/** The part of a model that its reasons name. */
type Compared = Pick<MatchModel, 'fields' | 'vocabulary'>;

/** One comparison of two records, as data. */
export interface ComparedAspect {
  /** The field or the name of the aspect. */
  aspect: string;
  label: string;
  /** From 0 to 1; null if a record has no value. */
  similarity: number | null;
  /** What it adds to the base-2 logarithm of the odds. */
  bits: number;
  /** The compared values as texts; null for aspects of several fields, and for sets. */
  left: string | null;
  right: string | null;
}

/** The comparisons of a pair, the strongest first. */
export function aspectsOf(
  pair: Pick<MatchPair, 'evidence'>,
  left: MatchRecord,
  right: MatchRecord,
  { fields }: Compared,
  labelOf: (field: string) => string,
): ComparedAspect[] {
  const kinds = new Map(fields.map(({ name, kind }) => [name, kind]));
  const shownValue = (record: MatchRecord, aspect: string) => {
    const kind = kinds.get(aspect);
    return kind === undefined || kind === 'set' ? null : plainText(record, aspect);
  };
  return pair.evidence
    .map(({ aspect, similarity, bits }) => ({
      aspect,
      label: labelOf(aspect.endsWith(NUMBERS) ? aspect.slice(0, -NUMBERS.length) : aspect),
      similarity,
      bits: Math.round(100 * bits) / 100,
      left: shownValue(left, aspect),
      right: shownValue(right, aspect),
    }))
    .sort((a, b) => Math.abs(b.bits) - Math.abs(a.bits));
}

/** The reasons for a pair's classification as sentences, strongest first. */
export function reasonsOf(
  pair: MatchPair,
  left: MatchRecord,
  right: MatchRecord,
  model: Compared,
  labelOf: (field: string) => string = (field) => field,
): string[] {
  const reasons = pair.evidence
    .filter(({ similarity, bits }) => similarity !== null && Math.abs(bits) >= LEAST_BITS)
    .toSorted((a, b) => Math.abs(b.bits) - Math.abs(a.bits))
    .map(
      ({ aspect, similarity, bits }) =>
        `${said(aspect, similarity!, left, right, model, labelOf)}${times(bits)}`,
    );
  const others = pair.alone > pair.score ? 'There are rival pairs' : 'Other records match both';
  return Math.abs(pair.alone - pair.score) < LEAST_CHANGE
    ? reasons
    : [
        ...reasons,
        `${others}: without them the probability is ${percent(pair.alone)}, with them ${percent(pair.score)}.`,
      ];
}

function said(
  aspect: string,
  similarity: number,
  left: MatchRecord,
  right: MatchRecord,
  model: Compared,
  labelOf: (field: string) => string,
): string {
  const alike = similarity === 1 ? 'the same' : `${percent(similarity)} alike`;
  if (aspect === ALL_WORDS) return `All words together are ${alike}`;
  if (aspect === ALL_CODES) return `Model and part numbers are ${alike}`;
  if (aspect === RARITY)
    return `The words of the names are ${similarity < FREQUENT ? 'frequent' : 'rare'} in the list`;
  if (aspect.startsWith('*')) return variants(aspect.slice(1), similarity, left, right, model);
  if (aspect.endsWith(NUMBERS))
    return `The numbers in ${labelOf(aspect.slice(0, -NUMBERS.length))} are ${alike}`;
  if (model.fields.find(({ name }) => name === aspect)?.kind === 'set')
    return `${labelOf(aspect)}: ${inCommon(left, right, aspect)}`;
  return `${labelOf(aspect)}: ${shown(left, aspect)} and ${shown(right, aspect)} are ${alike}`;
}

function variants(
  what: string,
  similarity: number,
  left: MatchRecord,
  right: MatchRecord,
  { fields, vocabulary }: Compared,
): string {
  if (what === 'series') return 'The names differ in words that distinguish other objects of the list';
  if (what === 'order') return 'The names have the same parts in another order';
  const name =
    (fields.find(({ kind }) => kind === 'name') ?? fields.find(({ kind }) => kind === 'list'))?.name ?? '';
  const { synonyms, vendorOf } = ownWordsOf(vocabulary);
  const [a, b] = [left, right].map((record) => {
    const text = synonyms.written(itemsOf(record, name)[0] ?? '');
    if (what === 'vendor') return vendorOf(plainNameWords(text))?.name ?? 'not said';
    const values = variantOf(text)[what as keyof Variant];
    return values.map((value) => value.replace('~', '')).join(', ') || 'not said';
  });
  return similarity === 1 ? `The ${what} is the same: ${a}` : `The ${what} differs: ${a}, ${b}`;
}

/** The size of the overlap of two sets, since their items are opaque keys. */
function inCommon(left: MatchRecord, right: MatchRecord, field: string): string {
  const [a, b] = [left, right].map((record) => new Set(itemsOf(record, field))) as [Set<string>, Set<string>];
  const common = [...a].filter((item) => b.has(item)).length;
  return `${common} of ${a.size + b.size - common} in common`;
}

const shown = (record: MatchRecord, field: string): string => `“${plainText(record, field)}”`;

/** The value of a field on one line, at most {@link LONGEST_SHOWN} characters. */
function plainText(record: MatchRecord, field: string): string {
  // control characters and direction marks would affect the display of other texts
  const text = textOf(record, field)
    .slice(0, 4 * LONGEST_SHOWN)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  const letters = [...text];
  return letters.length > LONGEST_SHOWN ? `${letters.slice(0, LONGEST_SHOWN).join('')}…` : text;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The factor by which a reason changes the odds. */
function times(bits: number): string {
  const factor = 2 ** Math.abs(bits);
  const shownFactor =
    factor >= 1_000 ? 'over a thousand' : factor >= 10 ? factor.toFixed(0) : factor.toFixed(1);
  return `: ${shownFactor} times ${bits > 0 ? 'more likely' : 'less likely'}.`;
}
