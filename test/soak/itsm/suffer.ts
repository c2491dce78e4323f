import { between, pick, type Random } from '../../bench/landscape/random.ts';
import type { FaultScript } from '../../emulators/scripted-faults.ts';
import type { CallKind } from '../../emulators/servicenow/calls.ts';
import { type Fault, isState } from '../../emulators/servicenow/faults.ts';
import type { Driver } from './drive.ts';
import { kinds } from './landscape.ts';
import type { People } from './people.ts';
import { failsWith, judgeFailures } from './told.ts';
import { tellChanges, type World } from './world.ts';

/** A run that the remote makes hard. */
export interface Ordeal {
  scripts: FaultScript<Fault, CallKind>[];
  complete: boolean;
  /** After how many calls each somebody does something, on either side. */
  pace: number;
}

export const faultsOf = ({ scripts }: Ordeal): Fault[] => scripts.map(({ fault }) => fault);

/** Faults that befall calls of which a run makes few. */
const rare: readonly Fault[] = ['reset_after_write', 'rows_between_pages', 'duplicate_ids'];
/** For as many calls as runs can make. */
const FOR_GOOD = 400;

/**
 * An ordeal of these faults: mostly for a few calls, sometimes for good. What lasts comes last, and early is more likely
 * than late, so that each of them gets to befall a call.
 * @param reach how many calls a run makes, about.
 */
export function createOrdeal(faults: readonly Fault[], random: Random, reach: number): Ordeal {
  const scripts = faults.map((fault) => ({
    fault,
    nth: rare.includes(fault) ? between(random, 1, 2) : between(random, 1, random() < 0.5 ? 4 : reach),
    times: fault === 'rows_between_pages' ? 2 : pick(random, [1, 1, 2, 3, 8, FOR_GOOD]),
  }));
  for (const script of scripts) {
    const others = scripts.filter((one) => one !== script);
    if (others.length === 0 || script.times < 8) continue;
    if (others.some(({ fault }) => rare.includes(fault))) script.times = 3;
    else script.nth = Math.max(...others.map(({ nth, times }) => nth + Math.min(times, 3)));
  }
  const whole = faults.some((fault) => rare.includes(fault)) ? 0.9 : 0.6;
  return { scripts, complete: random() < whole, pace: between(random, 2, 8) };
}

export const tell = ({ scripts, complete, pace }: Ordeal): string =>
  `${scripts.map(({ fault, nth, times }) => `${fault} at ${nth} x ${times}`).join(', ')}; ${complete ? 'complete' : 'changes'}, somebody acts every ${pace} calls`;

/** Calls that go wrong of which a run gets over all. */
const MILD = 2;

/** Whether runs have to come to their end in spite of it. */
const isMild = ({ scripts }: Ordeal): boolean =>
  scripts.reduce((sum, { fault, times = 1 }) => sum + (failsWith[fault].length > 0 ? times : 0), 0) <= MILD;

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
    if (ended.run.status === 'failed' && isMild(ordeal))
      outcome.faults.push(`${key}: the run did not get over it: ${ended.run.error_message}`);
    outcome.faults.push(...judgeFailures(ended, faultsOf(ordeal)).map((fault) => `${key}: ${fault}`));
  }
  instance.watch = undefined;
  await Promise.all(acting);
  instance.heal();
  driver.clock.advance(3_600_000);
  return outcome;
}

/**
 * Runs over what has changed until nothing is left to be done, and looks at what both sides have come to. A reading of
 * everything then finds nothing that the others have passed over.
 * @param befallen what the remote has done since both sides were last at rest.
 */
export async function recover(
  world: World,
  driver: Driver,
  { expected }: People,
  befallen: ReadonlySet<Fault>,
): Promise<Outcome> {
  const outcome: Outcome = { faults: [], runs: 0, failed: 0 };
  for (let round = 1; ; round += 1) {
    const changes = await runWell(world, driver, {}, outcome);
    if (outcome.failed > 0 || changes.length === 0) break;
    if (round === PATIENCE) {
      outcome.faults.push(`after ${PATIENCE} rounds there is still something to be done`, ...changes);
      break;
    }
  }
  outcome.faults.push(...(await expected.judge(befallen)));
  const left = await runWell(world, driver, { complete: true }, outcome);
  outcome.faults.push(...left.map((one) => `left to a reading of everything: ${one}`));
  return outcome;
}

/** A run of each kind of things with the remote well. @returns what they were to change. */
async function runWell(
  world: World,
  driver: Driver,
  how: { complete?: boolean },
  outcome: Outcome,
): Promise<string[]> {
  const changes: string[] = [];
  for (const { key } of kinds) {
    const ended = await driver.run(world, world.mappings[key], how);
    outcome.runs += 1;
    if (ended.run.status === 'failed') outcome.failed += 1;
    outcome.faults.push(...judgeFailures(ended, []).map((fault) => `${key}, with the remote well: ${fault}`));
    if (ended.changes > 0) changes.push(...(await tellChanges(world, ended)));
  }
  return changes;
}
