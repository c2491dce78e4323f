import { parseArgs } from 'node:util';

export interface BenchArgs {
  cards: number;
  relations: number;
  seed: number;
  /** Names of the scenarios to run; empty for all. */
  only: string[];
  /** Workers that are killed in each run that is disturbed. */
  kills: number;
}

/** Reads `--cards`, `--relations` (three a card by default), `--seed`, `--only` (may be repeated) and `--kills`. */
export function parseBenchArgs(args: string[]): BenchArgs {
  const { values } = parseArgs({
    args,
    options: {
      cards: { type: 'string', default: '100000' },
      relations: { type: 'string' },
      seed: { type: 'string', default: '42' },
      only: { type: 'string', multiple: true, default: [] },
      kills: { type: 'string', default: '4' },
    },
  });
  const whole = (name: 'cards' | 'relations' | 'seed' | 'kills', otherwise = 0): number => {
    const value = Number(values[name] ?? otherwise);
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`--${name} takes a whole number, not ${values[name]}`);
    return value;
  };
  const cards = whole('cards');
  return {
    cards,
    relations: whole('relations', cards * 3),
    seed: whole('seed'),
    only: values.only,
    kills: whole('kills'),
  };
}
