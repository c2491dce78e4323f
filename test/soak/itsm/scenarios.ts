import { between, mix, mulberry32, pick, type Random } from '../../bench/landscape/random.ts';
import type { FaultScript } from '../../emulators/scripted-faults.ts';
import { type CallKind, type Fault, faults, isState } from '../../emulators/servicenow/faults.ts';
import { createVirtualClock } from '../../emulators/virtual-clock.ts';
import { createDriver, type Driver } from './drive.ts';
import { checkFailures, failsWith } from './failures.ts';
import { kinds, type Size } from './landscape.ts';
import { createPeople, type People } from './people.ts';
import { createWorld, describeChanges, type World } from './world.ts';

/** A run of both mappings while the remote has faults. */
interface Scenario {
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
function createScenario(faults: readonly Fault[], random: Random, reach: number): Scenario {
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

const describeScenario = ({ scripts, complete, pace }: Scenario): string =>
  `${scripts.map(({ fault, nth, times }) => `${fault} at ${nth} x ${times}`).join(', ')}; ${complete ? 'complete' : 'changes'}, somebody acts every ${pace} calls`;

/** Calls that go wrong of which a run gets over all. */
const MILD = 2;

/** Whether runs have to come to their end in spite of it. */
const isMild = ({ scripts }: Scenario): boolean =>
  scripts.reduce((sum, { fault, times = 1 }) => sum + (failsWith(fault).length > 0 ? times : 0), 0) <= MILD;

/** Rounds after which nothing may be left to do once the remote works again. */
const PATIENCE = 8;
/** Acts of people before the runs of a scenario, and at most during them. */
const ACTS_BEFORE = 6;
const MOST_ACTS = 12;

type Outcome = { faults: string[]; runs: number; failed: number };

/** Executes a scenario; afterwards the remote works again. */
async function runScenario(world: World, driver: Driver, people: People, scenario: Scenario) {
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
async function recover(
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
async function runWell(world: World, driver: Driver, how: { complete?: boolean }, outcome: Outcome) {
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

const alone: Fault[][] = faults.map((fault) => [fault]);
const pairs: Fault[][] = faults.flatMap((one, at) => faults.slice(at + 1).map((other) => [one, other]));

/** What faults that come together are called, in whatever order. */
export const nameOf = (some: readonly Fault[]): string => [...some].sort().join('+');

/** Every fault alone, and every two of them. */
export const combinations: string[] = [...alone, ...pairs].map(nameOf);

/** A scenario of faults that have not come together so far; undefined where all have. */
function untestedScenario(together: ReadonlyMap<string, number>, random: Random, reach: number) {
  const missed = [...alone, ...pairs].filter((some) => !together.has(nameOf(some)));
  return missed.length === 0 ? undefined : createScenario(pick(random, missed), random, reach);
}

/** A scenario of a fault that has affected no call so far; undefined where all have. */
function unfiredScenario(fired: ReadonlyMap<Fault, number>, random: Random, reach: number) {
  const unmet = alone.filter(([fault]) => !fired.has(fault!));
  return unmet.length === 0 ? undefined : createScenario(pick(random, unmet), random, reach);
}

/** Every fault alone, then every two of them, in an order of the seed's; repeated when all have been used. */
export function scenarios(seed: number, count: number, reach: number): Scenario[] {
  const random = mulberry32(mix(seed, 2));
  const shuffled = <T>(all: T[]): T[] =>
    all
      .map((one) => [random(), one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one);
  const chosen: Fault[][] = [];
  while (chosen.length < count) chosen.push(...shuffled(alone), ...shuffled(pairs));
  return chosen.slice(0, count).map((some) => createScenario(some, random, reach));
}

/** The last scenarios are of faults that have not come together by then, since one kept calls from the other. */
const LAST = 20;
/** Scenarios at most after all others, for faults that have affected no call: a run may have had nothing to write. */
const MORE = 10;
/** Problems reported of one scenario at most. */
const MOST_REPORTED = 12;

interface ScenarioOptions {
  seed: number;
  scenarios: number;
  size: Size;
  page: number;
  /** How many calls a run makes, about. */
  reach: number;
  /** Scenarios after which a new world begins, whose first run is one. */
  scenariosPerWorld: number;
  /** Scenarios after which both sides are synchronised and compared. */
  scenariosPerCheck: number;
  log?: (text: string) => void;
}

interface ScenarioTotals {
  runs: number;
  /** Runs that failed for good. */
  failed: number;
  /** How many calls each fault has affected. */
  fired: Map<Fault, number>;
  /** In how many scenarios faults have affected calls, alone or both of two; by their names with `+` between. */
  together: Map<string, number>;
}

/**
 * Executes scenarios one after the other; each world begins with an empty inventory.
 * @throws Error that describes the first scenario with problems.
 */
export async function runScenarios(
  parts: Pick<World, 'services' | 'ctx'>,
  {
    seed,
    scenarios: count,
    size,
    page,
    reach,
    scenariosPerWorld,
    scenariosPerCheck,
    log = () => {},
  }: ScenarioOptions,
): Promise<ScenarioTotals> {
  const total: ScenarioTotals = { runs: 0, failed: 0, fired: new Map(), together: new Map() };
  const clock = createVirtualClock(Date.now());
  const driver = createDriver(parts.services, clock, page);
  let world: World | undefined;
  let lately: Scenario[] = [];
  const planned = scenarios(seed, count, reach);
  const scenarioAt = (at: number): Scenario | undefined => {
    const random = mulberry32(mix(seed, at, 3));
    if (at >= count) return unfiredScenario(total.fired, random, reach);
    const hasOpenReferences = at >= Math.max(combinations.length, count - LAST);
    return (hasOpenReferences && untestedScenario(total.together, random, reach)) || planned[at];
  };
  try {
    let people: People | undefined;
    for (let at = 0; at < count + MORE; at += 1) {
      const scenario = scenarioAt(at);
      if (!scenario) break;
      if (!world || !people || (at % scenariosPerWorld === 0 && at < count)) {
        await world?.close();
        world = await createWorld(parts, size, { clock, seed: `${seed} ${at}` });
        people = await createPeople(world, mulberry32(mix(seed, at)));
      }
      lately.push(scenario);
      const before = new Map(world.instance.faults.fired);
      const outcomes = [await runScenario(world, driver, people, scenario)];
      const { fired } = world.instance.faults;
      for (const [fault, times] of fired) {
        const more = times - (before.get(fault) ?? 0);
        if (more > 0) total.fired.set(fault, (total.fired.get(fault) ?? 0) + more);
      }
      if (faultsOf(scenario).every((fault) => (fired.get(fault) ?? 0) > (before.get(fault) ?? 0))) {
        const key = nameOf(faultsOf(scenario));
        total.together.set(key, (total.together.get(key) ?? 0) + 1);
      }
      const rests =
        lately.length === scenariosPerCheck || at >= count - 1 || (at + 1) % scenariosPerWorld === 0;
      if (rests) outcomes.push(await recover(world, driver, people, new Set(lately.flatMap(faultsOf))));
      for (const { runs, failed } of outcomes) {
        total.runs += runs;
        total.failed += failed;
      }
      const found = outcomes.flatMap((outcome) => outcome.faults);
      if (found.length > 0) {
        const problems = found.slice(0, MOST_REPORTED).join('\n  ');
        throw new Error(
          `scenario ${at + 1} (${lately.map(describeScenario).join(' | ')}) with seed ${seed} ended with ${found.length} problems:\n  ${problems}`,
        );
      }
      if (rests) lately = [];
      log(`${at + 1}: ${describeScenario(scenario)}: ${total.runs} runs so far`);
    }
    return total;
  } finally {
    await world?.close();
    await driver.close();
  }
}
