import { ALL_CODES, ALL_WORDS, type MatchModel, type MatchPair, VARIANTS } from './matching.types.ts';

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
