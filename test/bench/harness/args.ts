import { parseArgs } from 'node:util';

export interface BenchArgs {
  cards: number;
  relations: number;
  seed: number;
  /** Names of the scenarios to run; empty for all. */
  only: string[];
  /** Through the service's import, or straight into the tables where the import is not looked at. */
  load: 'import' | 'direct';
  /** Workers that are killed in each run that is disturbed. */
  kills: number;
}

const whole = (name: string, text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`--${name} takes a whole number, not ${text}`);
  return value;
};

/**
 * Reads `--cards`, `--relations` (three a card by default), `--seed`, `--only` (may be repeated), `--load`
 * (`import` or `direct`) and `--kills`.
 */
export function parseBenchArgs(argv: string[]): BenchArgs {
  const { values } = parseArgs({
    args: argv,
    options: {
      cards: { type: 'string', default: '100000' },
      relations: { type: 'string' },
      seed: { type: 'string', default: '42' },
      only: { type: 'string', multiple: true, default: [] },
      load: { type: 'string', default: 'import' },
      kills: { type: 'string', default: '4' },
    },
  });
  const cards = whole('cards', values.cards);
  const { load } = values;
  if (load !== 'import' && load !== 'direct')
    throw new RangeError(`--load takes import or direct, not ${load}`);
  return {
    cards,
    relations: values.relations === undefined ? cards * 3 : whole('relations', values.relations),
    seed: whole('seed', values.seed),
    only: values.only,
    load,
    kills: whole('kills', values.kills),
  };
}
