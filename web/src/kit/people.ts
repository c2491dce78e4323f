import { schemes } from '../../../reports/kernel/charts/charts.tokens.ts';

/** Colours with a contrast of at least 4.5 to white. */
const colours = schemes.light.categorical.filter((_, at) => at !== 4 && at !== 5 && at !== 2);

/** The same colour for the same name, everywhere. */
export function categorical(name: string): string {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)!) % 65_521;
  return colours[sum % colours.length]!;
}
