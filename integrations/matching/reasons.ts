import {
  ALL_CODES,
  ALL_WORDS,
  type MatchModel,
  type MatchPair,
  type MatchRecord,
  NUMBERS,
  VARIANTS,
} from './matching.types.ts';
import { itemsOf, textOf } from './records.ts';
import { type Variant, variantOf } from './variants.ts';

/** Letters of a value that are shown. */
const LONGEST_SHOWN = 60;
/** What says less than this many bits is not worth a word. */
const LEAST_BITS = 0.1;

/** Why a pair is what it is, in plain words, what says the most first: to be shown to people. */
export function reasonsOf(
  pair: MatchPair,
  left: MatchRecord,
  right: MatchRecord,
  model: Pick<MatchModel, 'fields'>,
  labelOf: (field: string) => string = (field) => field,
): string[] {
  const reasons = pair.evidence
    .filter(({ similarity, bits }) => similarity !== null && Math.abs(bits) >= LEAST_BITS)
    .toSorted((a, b) => Math.abs(b.bits) - Math.abs(a.bits))
    .map(
      ({ aspect, similarity, bits }) =>
        `${said(aspect, similarity!, left, right, model, labelOf)}${times(bits)}`,
    );
  const rivals =
    pair.alone - pair.score >= 0.05
      ? [
          `Other records are as likely: alone it would be ${percent(pair.alone)}, beside them ${percent(pair.score)}.`,
        ]
      : [];
  return [...reasons, ...rivals];
}

function said(
  aspect: string,
  similarity: number,
  left: MatchRecord,
  right: MatchRecord,
  model: Pick<MatchModel, 'fields'>,
  labelOf: (field: string) => string,
): string {
  const alike = similarity === 1 ? 'the same' : `${percent(similarity)} alike`;
  if (aspect === ALL_WORDS) return `All words together are ${alike}`;
  if (aspect === ALL_CODES) return `Model and part numbers are ${alike}`;
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
  { fields }: Pick<MatchModel, 'fields'>,
): string {
  if (what === 'series') return 'The names differ in words that distinguish other objects of the list';
  const name =
    (fields.find(({ kind }) => kind === 'name') ?? fields.find(({ kind }) => kind === 'list'))?.name ?? '';
  const [a, b] = [left, right].map((record) => {
    const values = variantOf(itemsOf(record, name)[0] ?? '')[what as keyof Variant];
    return values.map((value) => value.replace('~', '')).join(', ') || 'not said';
  });
  return similarity === 1 ? `The ${what} is the same: ${a}` : `The ${what} differs: ${a}, ${b}`;
}

/** What two sets have in common, in numbers: their items are keys that nobody knows. */
function inCommon(left: MatchRecord, right: MatchRecord, field: string): string {
  const [a, b] = [left, right].map((record) => new Set(itemsOf(record, field))) as [Set<string>, Set<string>];
  const common = [...a].filter((item) => b.has(item)).length;
  return `${common} of ${a.size + b.size - common} in common`;
}

function shown(record: MatchRecord, field: string): string {
  // control and direction marks would change what else is shown
  const text = textOf(record, field)
    .slice(0, 4 * LONGEST_SHOWN)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  const letters = [...text];
  return `“${letters.length > LONGEST_SHOWN ? `${letters.slice(0, LONGEST_SHOWN).join('')}…` : text}”`;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** How much likelier or less likely something makes a pair. */
function times(bits: number): string {
  const factor = 2 ** Math.abs(bits);
  const shownFactor =
    factor >= 1_000 ? 'over a thousand' : factor >= 10 ? factor.toFixed(0) : factor.toFixed(1);
  return `: ${shownFactor} times ${bits > 0 ? 'likelier' : 'less likely'}.`;
}

const LABELS: Record<string, string> = {
  [ALL_WORDS]: 'all words',
  [ALL_CODES]: 'all codes',
  ...Object.fromEntries(VARIANTS.map((rule) => [rule, rule.slice(1)])),
};
/** Letters of a field's name that are shown. */
const WIDTH = 24;

/**
 * A pair's score in lines to read: what each aspect adds to the bits, with its similarity, a dash where one record has no
 * value (rules of variants only where they say something); their sum, as the probability of the pair alone; and what its rivals leave of that.
 */
export function explain(pair: MatchPair, model: MatchModel): string {
  const signed = (bits: number) => `${bits < 0 ? '' : '+'}${bits.toFixed(1)}`.padStart(6);
  const line = (what: string, similarity: string, bits: number) =>
    `  ${what.slice(0, WIDTH).padEnd(WIDTH)} ${similarity.padStart(5)} ${signed(bits)}`;
  const sum = pair.evidence.reduce((total, { bits }) => total + bits, model.priorBits);
  return [
    `${pair.left} and ${pair.right}: ${pair.class}, ${pair.score.toFixed(3)}`,
    line('any pair', '', model.priorBits),
    ...pair.evidence
      .filter(speaks)
      .map(({ aspect, similarity, bits }) =>
        line(LABELS[aspect] ?? aspect, similarity === null ? '-' : similarity.toFixed(2), bits),
      ),
    `${line('sum', '', sum)} bits, ${pair.alone.toFixed(3)} alone`,
  ].join('\n');
}

/** Whether an aspect is worth a line: a rule of variants, if it says something. */
const speaks = ({ aspect, similarity }: MatchPair['evidence'][0]): boolean =>
  similarity !== null || !(VARIANTS as readonly string[]).includes(aspect);
