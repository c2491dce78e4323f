import { between, pick, type Random } from '../../bench/landscape/random.ts';
import type { FaultScript } from '../../emulators/scripted-faults.ts';
import type { CallKind } from '../../emulators/servicenow/calls.ts';
import { type Fault, isState } from '../../emulators/servicenow/faults.ts';
import type { Driver } from './drive.ts';
import { kinds } from './landscape.ts';
import type { People } from './people.ts';
import { judgeFailures } from './told.ts';
import type { World } from './world.ts';

/** A run that the remote makes hard. */
export interface Ordeal {
  scripts: FaultScript<Fault, CallKind>[];
  complete: boolean;
  /** After how many calls each somebody does something, on either side. */
  pace: number;
}

export const faultsOf = ({ scripts }: Ordeal): Fault[] => scripts.map(({ fault }) => fault);

/**
 * An ordeal of these faults: mostly for a few calls, sometimes for good.
 * @param reach how many calls a run makes, about.
 */
export function createOrdeal(faults: readonly Fault[], random: Random, reach: number): Ordeal {
  return {
    scripts: faults.map((fault) => ({
      fault,
      nth: between(random, 1, fault === 'reset_after_write' ? 3 : reach),
      times: fault === 'rows_between_pages' ? 2 : pick(random, [1, 1, 2, 3, 8, 400]),
    })),
    complete: random() < 0.7,
    pace: between(random, 2, 8),
  };
}

export const tell = ({ scripts, complete, pace }: Ordeal): string =>
  `${scripts.map(({ fault, nth, times }) => `${fault} at ${nth} x ${times}`).join(', ')}; ${complete ? 'complete' : 'changes'}, somebody acts every ${pace} calls`;

/** Rounds after which everything must have come to rest once the remote is well again. */
const PATIENCE = 8;
/** Acts of people before the runs of an ordeal, and at most during them. */
const ACTS_BEFORE = 6;
const MOST_ACTS = 12;

export interface Outcome {
  faults: string[];
  runs: number;
  failed: number;
}

/** Lives through an ordeal, and has the remote well again. */
export async function suffer(world: World, driver: Driver, people: People, ordeal: Ordeal): Promise<Outcome> {
  const { instance, mappings } = world;
  const outcome: Outcome = { faults: [], runs: 0, failed: 0 };
  for (let at = 0; at < ACTS_BEFORE; at += 1) await people.act();
  for (const script of ordeal.scripts) {
    if (isState(script.fault)) instance.impose(script.fault);
    else instance.faults.arm(script);
  }
  const acting: Promise<void>[] = [];
  instance.watch = () => {
    if (instance.calls.length % ordeal.pace === 0 && acting.length < MOST_ACTS) acting.push(people.act());
  };
  for (const { key } of kinds) {
    const ended = await driver.run(world, mappings[key], { complete: ordeal.complete });
    outcome.runs += 1;
    if (ended.run.status === 'failed') outcome.failed += 1;
    outcome.faults.push(...judgeFailures(ended, faultsOf(ordeal)).map((fault) => `${key}: ${fault}`));
  }
  instance.watch = undefined;
  await Promise.all(acting);
  people.learn();
  instance.heal();
  driver.clock.advance(3_600_000);
  return outcome;
}

/** Runs until nothing is left to be done, and looks at what both sides have come to. */
export async function recover(world: World, driver: Driver, people: People): Promise<Outcome> {
  const faults: string[] = [];
  const runs = await settle(world, driver, faults);
  return { faults: [...faults, ...(await people.expected.judge())], runs, failed: 0 };
}

/** Runs until nothing is left to be done, first over what has changed and then over everything. @returns how many runs it took. */
async function settle(world: World, driver: Driver, faults: string[]): Promise<number> {
  let runs = 0;
  let complete = false;
  for (let round = 0; round < PATIENCE; round += 1) {
    let changes = 0;
    for (const { key } of kinds) {
      const ended = await driver.run(world, world.mappings[key], { complete });
      runs += 1;
      changes += ended.changes;
      faults.push(...judgeFailures(ended, []).map((fault) => `${key}, with the remote well: ${fault}`));
      if (ended.run.status === 'failed') return runs;
    }
    if (changes === 0 && complete) return runs;
    complete = true;
  }
  faults.push(`after ${PATIENCE} rounds there is still something to be done`);
  return runs;
}
