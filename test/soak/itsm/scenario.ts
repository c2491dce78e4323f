import { between, pick, type Random } from '../../bench/landscape/random.ts';
import type { FaultScript } from '../../emulators/scripted-faults.ts';
import { type CallKind, type Fault, isState } from '../../emulators/servicenow/faults.ts';
import type { Driver } from './drive.ts';
import { checkFailures, failsWith } from './failures.ts';
import { kinds } from './landscape.ts';
import type { People } from './people.ts';
import { describeChanges, type World } from './world.ts';

/** A run of both mappings while the remote has faults. */
export interface Scenario {
  scripts: FaultScript<Fault, CallKind>[];
  complete: boolean;
  /** After how many calls each somebody does something, on either side. */
  pace: number;
}

export const faultsOf = ({ scripts }: Scenario): Fault[] => scripts.map(({ fault }) => fault);

/** Faults of kinds of calls that a run seldom makes. */
const rare: readonly Fault[] = ['reset_after_write', 'rows_between_pages', 'duplicate_ids'];
/** For as many calls as runs can make. */
const FOR_GOOD = 400;

/**
 * A scenario with these faults: mostly for a few calls, sometimes for good. What lasts comes last, and early is more likely
 * than late, so that each of them affects a call.
 * @param reach how many calls a run makes, about.
 */
export function createScenario(faults: readonly Fault[], random: Random, reach: number): Scenario {
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

export const describeScenario = ({ scripts, complete, pace }: Scenario): string =>
  `${scripts.map(({ fault, nth, times }) => `${fault} at ${nth} x ${times}`).join(', ')}; ${complete ? 'complete' : 'changes'}, somebody acts every ${pace} calls`;

/** Calls that go wrong of which a run gets over all. */
const MILD = 2;

/** Whether runs have to come to their end in spite of it. */
const isMild = ({ scripts }: Scenario): boolean =>
  scripts.reduce((sum, { fault, times = 1 }) => sum + (failsWith[fault].length > 0 ? times : 0), 0) <= MILD;

/** Rounds after which nothing may be left to do once the remote works again. */
const PATIENCE = 8;
/** Acts of people before the runs of a scenario, and at most during them. */
const ACTS_BEFORE = 6;
const MOST_ACTS = 12;

export interface Outcome {
  faults: string[];
  runs: number;
  failed: number;
}

/** Executes a scenario; afterwards the remote works again. */
export async function runScenario(
  world: World,
  driver: Driver,
  people: People,
  scenario: Scenario,
): Promise<Outcome> {
  const { instance, mappings } = world;
  const outcome: Outcome = { faults: [], runs: 0, failed: 0 };
  for (let at = 0; at < ACTS_BEFORE; at += 1) await people.act();
  for (const script of scenario.scripts) {
    if (isState(script.fault)) instance.impose(script.fault);
    else instance.faults.arm(script);
  }
  const acting: Promise<void>[] = [];
  instance.watch = () => {
    if (instance.calls.length % scenario.pace === 0 && acting.length < MOST_ACTS) acting.push(people.act());
  };
  for (const { key } of kinds) {
    const ended = await driver.run(world, mappings[key], { complete: scenario.complete });
    outcome.runs += 1;
    if (ended.run.status === 'failed') outcome.failed += 1;
    if (ended.run.status === 'failed' && isMild(scenario))
      outcome.faults.push(`${key}: the run did not recover: ${ended.run.error_message}`);
    outcome.faults.push(...checkFailures(ended, faultsOf(scenario)).map((fault) => `${key}: ${fault}`));
  }
  instance.watch = undefined;
  await Promise.all(acting);
  instance.heal();
  driver.clock.advance(3_600_000);
  return outcome;
}

/**
 * Runs over what has changed until nothing is left to be done, and looks at what both sides have come to. A reading of
 * everything then finds nothing that the others have missed.
 * @param fired faults of the remote since both sides last agreed.
 */
export async function recover(
  world: World,
  driver: Driver,
  { expected }: People,
  fired: ReadonlySet<Fault>,
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
  outcome.faults.push(...(await expected.check(fired)));
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
    outcome.faults.push(...checkFailures(ended, []).map((fault) => `${key}, with the remote well: ${fault}`));
    if (ended.changes > 0) changes.push(...(await describeChanges(world, ended)));
  }
  return changes;
}
