import { mix, mulberry32 } from '../../bench/landscape/random.ts';
import type { Fault } from '../../emulators/servicenow/faults.ts';
import { createVirtualClock } from '../../emulators/virtual-clock.ts';
import { createDriver } from './drive.ts';
import type { Size } from './landscape.ts';
import { combinations, missedOrdeal, nameOf, ordeals, unmetOrdeal } from './ordeals.ts';
import { createPeople, type People } from './people.ts';
import { faultsOf, type Ordeal, recover, suffer, tell } from './suffer.ts';
import { createWorld, type World } from './world.ts';

/** The last ordeals are of faults that have not come together by then, since one kept calls from the other. */
const LAST = 20;
/** Ordeals at most after all others, of faults that had no call to befall: a run may have had nothing to write by then. */
const MORE = 10;
/** Wrong things that are told of one ordeal. */
const TOLD = 12;

export interface Endurance {
  seed: number;
  ordeals: number;
  size: Size;
  page: number;
  /** How many calls a run makes, about. */
  reach: number;
  /** Ordeals after which a new world begins, whose first run is one. */
  lifetime: number;
  /** Ordeals after which both sides are brought to rest and looked at. */
  stretch: number;
  log?: (text: string) => void;
}

export interface Endured {
  runs: number;
  /** Runs that failed for good. */
  failed: number;
  /** How often each fault has befallen a call. */
  fired: Map<Fault, number>;
  /** In how many ordeals faults have befallen calls, alone or both of two; by their names with `+` between. */
  together: Map<string, number>;
}

/**
 * Lives through ordeals one after the other, in worlds of which each begins with nothing here.
 * @throws Error that tells the first that did not end well.
 */
export async function endure(
  parts: Pick<World, 'services' | 'ctx'>,
  { seed, ordeals: count, size, page, reach, lifetime, stretch, log = () => {} }: Endurance,
): Promise<Endured> {
  const total: Endured = { runs: 0, failed: 0, fired: new Map(), together: new Map() };
  const clock = createVirtualClock(Date.now());
  const driver = createDriver(parts.services, clock, page);
  let world: World | undefined;
  let lately: Ordeal[] = [];
  const planned = ordeals(seed, count, reach);
  const ordealAt = (at: number): Ordeal | undefined => {
    const random = mulberry32(mix(seed, at, 3));
    if (at >= count) return unmetOrdeal(total.fired, random, reach);
    const hasOpenReferences = at >= Math.max(combinations.length, count - LAST);
    return (hasOpenReferences && missedOrdeal(total.together, random, reach)) || planned[at];
  };
  try {
    let people: People | undefined;
    for (let at = 0; at < count + MORE; at += 1) {
      const ordeal = ordealAt(at);
      if (!ordeal) break;
      if (!world || !people || (at % lifetime === 0 && at < count)) {
        await world?.close();
        world = await createWorld(parts, size, { clock, seed: `${seed} ${at}` });
        people = await createPeople(world, mulberry32(mix(seed, at)));
      }
      lately.push(ordeal);
      const before = new Map(world.instance.faults.fired);
      const outcomes = [await suffer(world, driver, people, ordeal)];
      const { fired } = world.instance.faults;
      for (const [fault, times] of fired) {
        const more = times - (before.get(fault) ?? 0);
        if (more > 0) total.fired.set(fault, (total.fired.get(fault) ?? 0) + more);
      }
      if (faultsOf(ordeal).every((fault) => (fired.get(fault) ?? 0) > (before.get(fault) ?? 0))) {
        const key = nameOf(faultsOf(ordeal));
        total.together.set(key, (total.together.get(key) ?? 0) + 1);
      }
      const rests = lately.length === stretch || at >= count - 1 || (at + 1) % lifetime === 0;
      if (rests) outcomes.push(await recover(world, driver, people, new Set(lately.flatMap(faultsOf))));
      for (const { runs, failed } of outcomes) {
        total.runs += runs;
        total.failed += failed;
      }
      const faults = outcomes.flatMap((outcome) => outcome.faults);
      if (faults.length > 0) {
        const told = faults.slice(0, TOLD).join('\n  ');
        throw new Error(
          `ordeal ${at + 1} (${lately.map(tell).join(' | ')}) with seed ${seed} ended with ${faults.length} wrong things:\n  ${told}`,
        );
      }
      if (rests) lately = [];
      log(`${at + 1}: ${tell(ordeal)}: ${total.runs} runs so far`);
    }
    return total;
  } finally {
    await world?.close();
    await driver.close();
  }
}
