import { mix, mulberry32 } from '../../bench/landscape/random.ts';
import type { Fault } from '../../emulators/servicenow/faults.ts';
import { createVirtualClock } from '../../emulators/virtual-clock.ts';
import { createDriver } from './drive.ts';
import type { Size } from './landscape.ts';
import { createPeople, type People } from './people.ts';
import { describeScenario, faultsOf, recover, runScenario, type Scenario } from './scenario.ts';
import { combinations, nameOf, scenarios, unfiredScenario, untestedScenario } from './scenarios.ts';
import { createWorld, type World } from './world.ts';

/** The last scenarios are of faults that have not come together by then, since one kept calls from the other. */
const LAST = 20;
/** Scenarios at most after all others, for faults that have affected no call: a run may have had nothing to write. */
const MORE = 10;
/** Problems reported of one scenario at most. */
const MOST_REPORTED = 12;

export interface ScenarioOptions {
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

export interface ScenarioTotals {
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
      const faults = outcomes.flatMap((outcome) => outcome.faults);
      if (faults.length > 0) {
        const problems = faults.slice(0, MOST_REPORTED).join('\n  ');
        throw new Error(
          `scenario ${at + 1} (${lately.map(describeScenario).join(' | ')}) with seed ${seed} ended with ${faults.length} problems:\n  ${problems}`,
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
