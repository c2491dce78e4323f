import { query } from '../../../platform/database.ts';
import { mix, mulberry32, pick, type Random } from '../../bench/landscape/random.ts';
import type { VirtualClock } from '../../emulators/virtual-clock.ts';
import { relate, remove, unrelate } from './actions.ts';
import { createDriver, type Driver, type Kill } from './drive.ts';
import type { SideName } from './journal.ts';
import { applications, components, type Kind, kinds, type Size } from './landscape.ts';
import { createWorld, type Ended, type Parts, readRemote, readSides, type World } from './world.ts';

export const RELATIONS = 'cmdb_rel_ci';
const SIZE: Size = { applications: 5, components: 4, relations: 9 };
const STEPS = 12;
/** Runs in a row after which both sides must be at rest. */
const PATIENCE = 8;
/** Calls for a job's own transaction that a run of this size makes, about. */
const REACH = 45;

/** A history whose sides disagree at its end: what happened, and how they differ. */
class Disagreement extends Error {}

/** What people do to relations, on either side. @returns what was done. */
type RelationAct = (world: World, random: Random) => Promise<string>;

/** The names of things that are on a side. */
const named = (things: Map<string, unknown>, { noun }: Kind): string[] =>
  [...things.keys()].filter((name) => name.startsWith(noun)).sort();

const add =
  (side: SideName): RelationAct =>
  async (world, random) => {
    const { things, relations } = (await readSides(world))[side];
    const [source, target] = [applications, components].map((kind) => pick(random, named(things, kind)));
    if (!source || !target || relations.includes(`${source} > ${target}`)) return 'nothing to relate';
    await relate[side](world, source, target);
    return `added (${side}): ${source} > ${target}`;
  };
const drop =
  (side: SideName): RelationAct =>
  async (world, random) => {
    const { relations } = (await readSides(world))[side];
    if (relations.length === 0) return 'no relation to remove';
    const ends = pick(random, relations);
    await unrelate[side](world, ...(ends.split(' > ') as [string, string]));
    return `removed (${side}): ${ends}`;
  };

/** Removes a relation at the remote, which then exists again: under another key before or after that, or under its own. */
const replace: RelationAct = async ({ instance: { elsewhere, store } }, random) => {
  const all = store.of(RELATIONS);
  if (all.length === 0) return 'no relation at the remote';
  const { sys_id: id = '', parent = '', child = '', type = '' } = pick(random, all).values;
  const ends = { parent, child, type };
  const way = pick(random, ['before', 'after', 'own'] as const);
  if (way === 'before') elsewhere.insert(RELATIONS, ends);
  elsewhere.remove(id);
  if (way === 'after') elsewhere.insert(RELATIONS, ends);
  if (way === 'own') store.insert(RELATIONS, ends, 'admin', id);
  return `replaced (remote): ${id} of ${parent} > ${child}, ${way}`;
};
const removeRecord: RelationAct = async (world, random) => {
  const names = named(readRemote(world).things, pick(random, kinds));
  if (names.length < 3) return 'too few records';
  const name = pick(random, names);
  await remove.remote(world, name);
  return `removed record ${name}`;
};
const all: RelationAct[] = [
  ...[drop('remote'), drop('remote'), replace, replace, replace, add('remote')],
  ...[drop('local'), add('local'), removeRecord],
];

/** How often a run is undone instead of another being made. */
const UNDO = 0.15;

/** The last completed runs of a mapping that can be undone, the newest first. */
async function undoableRuns({ services: { db } }: World, mappingId: string): Promise<string[]> {
  const rows = await query(db).rows`
       select id from itsm_runs r where mapping_id = ${mappingId} and status = 'completed'
       and exists (select from itsm_plan_rows p where p.run_id = r.id and p.progress = 'applied')
       and not exists (select from itsm_runs u where u.undo_of = r.id and u.status = 'completed')
     order by id desc limit 3`;
  return rows.map(({ id }: { id: string }) => id);
}

/** Worlds in which relations of a few things are kept in step by runs that end in the middle. */
export type RelationHistories = { parts: Parts; clock: VirtualClock; driver: Driver };

export function openRelationHistories(parts: Parts, clock: VirtualClock): RelationHistories {
  return { parts, clock, driver: createDriver(parts.services, clock, 3) };
}

/** A world of a few things and relations that are on both sides. */
export async function relatedWorld(
  { parts, clock, driver }: RelationHistories,
  seed: string,
  size = SIZE,
): Promise<World> {
  const world = await createWorld(parts, size, { clock, seed });
  for (const { key } of kinds) await driver.run(world, world.mappings[key]);
  return world;
}

/** Relations of both sides. */
export async function relatedOf(world: World) {
  const { local, remote } = await readSides(world);
  return { here: local.relations, there: remote.relations };
}

/** Lives one history through. @throws Disagreement */
async function liveRelations(histories: RelationHistories, seed: number): Promise<void> {
  const random = mulberry32(seed);
  const log: string[] = [];
  const world = await relatedWorld(histories, String(seed));
  const { clock, driver } = histories;
  const act = async () => void log.push(`  ${await pick(random, all)(world, random)}`);
  const doubt = (what: string) => new Disagreement([...log, `WRONG: ${what}`].join('\n'));
  const run = async (key: 'component' | 'application', complete: boolean, kills: Kill[]): Promise<Ended> => {
    const moments = kills.map(({ at, after }) => `${after ? 'after' : 'before'} ${at}`).join(', ');
    log.push(`run of ${key}, ${complete ? 'complete' : 'changes'}, killed ${moments || 'never'}`);
    const ended = await driver.run(world, world.mappings[key], { complete, kills });
    if (ended.run.status !== 'completed') log.push(`  ${ended.run.status}: ${ended.run.error_message}`);
    return ended;
  };
  /** Undoes one of the last runs; the next run proposes again what it had applied. */
  const undo = async (key: 'component' | 'application', kills: Kill[]): Promise<void> => {
    const ids = await undoableRuns(world, world.mappings[key]);
    if (ids.length === 0) return;
    const id = pick(random, ids);
    log.push(`undo of run ${ids.indexOf(id)} before the newest of ${key}, killed ${kills.length} times`);
    const { run: ended } = await driver.undo(world, id, kills);
    if (ended.status !== 'completed') throw doubt(`undo ${ended.status}: ${ended.error_message}`);
  };
  try {
    for (let step = 0; step < STEPS; step += 1) {
      clock.advance(pick(random, [0, 5_000, 40_000, 600_000]));
      world.instance.store.skew = pick(random, [0, 0, 420_000]);
      const acts = Math.floor(random() * 4);
      for (let at = 0; at < acts; at += 1) await act();
      if (random() < 0.3) continue;
      if (random() < 0.15) {
        const table = pick(random, ['sys_audit_delete', RELATIONS]);
        world.instance.repeats = { table, pages: pick(random, [1, 2, 100]) };
      }
      const kills = Array.from({ length: Math.floor(random() * 3) }, () => ({
        at: Math.floor(random() * REACH),
        after: random() < 0.5,
        meanwhile: async () => {
          log.push('  killed');
          if (random() < 0.7) await act();
        },
      }));
      const key = random() < 0.2 ? 'component' : 'application';
      if (random() < UNDO) await undo(key, kills);
      else await run(key, random() < 0.2, kills);
      world.instance.repeats = undefined;
    }
    world.instance.store.skew = 0;
    for (let round = 0; ; round += 1) {
      clock.advance(600_000);
      let changes = 0;
      for (const { key } of kinds) changes += (await run(key, false, [])).changes;
      if (changes === 0) break;
      if (round === PATIENCE) throw doubt('there is still something to be done');
    }
    const differences = async () => {
      const { here, there } = await relatedOf(world);
      const only = (some: string[], others: string[]) => some.filter((one) => !others.includes(one));
      return { here: only(here, there), there: only([...new Set(there)], here) };
    };
    const afterChanges = await differences();
    for (let round = 0; round < 2; round += 1) {
      clock.advance(600_000);
      for (const { key } of kinds) await run(key, true, []);
    }
    for (const [when, { here, there }] of [
      ['after readings of changes', afterChanges],
      ['after readings of everything', await differences()],
    ] as const)
      if (here.length + there.length > 0)
        throw doubt(`${when}: only here ${here.join(', ')}; only there ${there.join(', ')}`);
  } finally {
    await world.close();
  }
}

/** @throws Disagreement of the first history that ends with one. */
export async function liveManyRelations(histories: RelationHistories, count: number, seed: number) {
  for (let at = 0; at < count; at += 1) {
    const own = mix(seed, at);
    await liveRelations(histories, own).catch((error: Error) => {
      throw new Disagreement(`history ${at} (its own seed ${own}): ${error.message}`, { cause: error });
    });
  }
}
