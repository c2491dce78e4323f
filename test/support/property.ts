import fc from 'fast-check';

type Arbitraries<T extends unknown[]> = { [K in keyof T]: fc.Arbitrary<T[K]> };
/** How many values are tried, or how they are chosen. */
type Runs<T> = number | fc.Parameters<T>;

const parameters = <T>(runs: Runs<T>): fc.Parameters<T> =>
  typeof runs === 'number' ? { numRuns: runs } : runs;

// biome-ignore lint/suspicious/noConfusingVoidType: a check expects, or says whether it holds
type Checked = boolean | void;

/** Expects that a check of random values neither throws nor is false. */
export const forAll = <T extends [unknown, ...unknown[]]>(
  runs: Runs<T>,
  arbitraries: Arbitraries<T>,
  check: (...values: T) => Checked,
): void => fc.assert(fc.property<T>(...arbitraries, check), parameters(runs));

/** As `forAll`, of a check that waits. */
export const forAllAsync = <T extends [unknown, ...unknown[]]>(
  runs: Runs<T>,
  arbitraries: Arbitraries<T>,
  check: (...values: T) => Promise<Checked>,
): Promise<void> => fc.assert(fc.asyncProperty<T>(...arbitraries, check), parameters(runs));
