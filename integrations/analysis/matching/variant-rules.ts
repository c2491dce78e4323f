import { BINS } from './bits.ts';

/** Shares of the overruling bits by bin: contradiction, one-sided value, and agreement. */
const ruled = (contradiction: number, oneSided: number): number[] =>
  Array.from({ length: BINS }, (_, bin) => (bin < 3 ? 0 - contradiction : bin < 7 ? 0 - oneSided : 0));
/** The rules over names, see docs/matching.md. */
export const RULES = {
  environment: ruled(1, 0.9),
  version: ruled(1, 0.3),
  region: ruled(1, 0.1),
  part: ruled(1, 0.5),
  colour: ruled(1, 0),
  edition: ruled(1, 0.2),
  platform: ruled(1, 0.2),
  unit: ruled(1, 0.4),
  vendor: ruled(1, 0),
  series: ruled(0.5, 0),
  order: ruled(0, 0.1),
};
