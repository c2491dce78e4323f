import { createRelation, deleteRelation } from '../../../domain/inventory/relations/relations.commands.ts';
import { mix, mulberry32, pick, type Random } from '../../bench/landscape/random.ts';
import type { VirtualClock } from '../../emulators/virtual-clock.ts';
import { createDriver, type Driver, type Kill } from './drive.ts';
import { kinds, relationType, type Size } from './landscape.ts';
import { createWorld, type Ended, type Parts, readLocal, readRemote, type World } from './world.ts';

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

const relationsOf = ({ instance }: World) => instance.store.of(RELATIONS).map(({ values }) => values);
const recordsOf = ({ instance }: World, key: string) =>
  instance.store.of(kinds.find((kind) => kind.key === key)!.table).map(({ values }) => values.sys_id!);

const localRelations = async ({ services: { db } }: World): Promise<{ id: string }[]> =>
  await db('relations').where({ type: relationType }).orderBy('id');
const cardsOf = async ({ services: { db } }: World, type: string): Promise<string[]> =>
  await db('cards').where({ type, status: 'ACTIVE' }).orderBy('name').pluck('id');

/** An act on one relation at the remote. */
const onRemote =
  (
    act: (
      world: World,
      id: string,
      ends: Record<'parent' | 'child' | 'type', string>,
      random: Random,
    ) => string,
  ): RelationAct =>
  async (world, random) => {
    const all = relationsOf(world);
    if (all.length === 0) return 'no relation at the remote';
    const { sys_id = '', parent = '', child = '', type = '' } = pick(random, all);
    return `${act(world, sys_id, { parent, child, type }, random)} ${parent} > ${child}`;
  };

const removeThere = onRemote(({ instance }, id) => {
  instance.elsewhere.remove(id);
  return `removed there: ${id}`;
});

const replaceThere = onRemote(({ instance: { elsewhere } }, id, ends, random) => {
  const isFirst = random() < 0.5;
  if (isFirst) elsewhere.remove(id);
  const made = elsewhere.insert(RELATIONS, ends).values.sys_id;
  if (!isFirst) elsewhere.remove(id);
  return `replaced there: ${id} by ${made}`;
});

const restoreThere = onRemote(({ instance }, id, ends) => {
  instance.elsewhere.remove(id);
  instance.store.insert(RELATIONS, ends, 'admin', id);
  return `removed and restored there: ${id}`;
});

const addThere: RelationAct = async (world, random) => {
  const [parent, child] = [
    pick(random, recordsOf(world, 'application')),
    pick(random, recordsOf(world, 'component')),
  ];
  if (!parent || !child) return 'nothing to relate there';
  if (relationsOf(world).some((one) => one.parent === parent && one.child === child)) return 'there already';
  world.instance.elsewhere.insert(RELATIONS, { parent, child, type: world.relationKind });
  return `added there: ${parent} > ${child}`;
};

const removeRecord: RelationAct = async (world, random) => {
  const ids = recordsOf(world, pick(random, ['application', 'component']));
  if (ids.length < 3) return 'too few records';
  const id = pick(random, ids);
  world.instance.elsewhere.remove(id);
  return `removed record ${id}`;
};

const removeHere: RelationAct = async (world, random) => {
  const all = await localRelations(world);
  if (all.length === 0) return 'nothing to remove here';
  const { id } = pick(random, all);
  await deleteRelation(world.ctx, id);
  return `removed here: ${id}`;
};

const addHere: RelationAct = async (world, random) => {
  const [source_id, target_id] = [
    pick(random, await cardsOf(world, 'Application')),
    pick(random, await cardsOf(world, 'ITComponent')),
  ];
  if (!source_id || !target_id) return 'nothing to relate here';
  try {
    await createRelation(world.ctx, { type: relationType, source_id, target_id });
  } catch {
    return 'here already';
  }
  return `added here: ${source_id} > ${target_id}`;
};

const all: RelationAct[] = [
  ...[removeThere, removeThere, replaceThere, replaceThere, restoreThere, addThere],
  ...[removeHere, addHere, removeRecord],
];

/** How often a run is undone instead of another being made. */
const UNDO = 0.15;

/** The last completed runs of a mapping that can be undone, the newest first. */
async function undoableRuns({ services: { db } }: World, mappingId: string): Promise<string[]> {
  const { rows } = await db.raw(
    `select id from itsm_runs r where mapping_id = ? and status = 'completed'
       and exists (select from itsm_plan_rows p where p.run_id = r.id and p.progress = 'applied')
       and not exists (select from itsm_runs u where u.undo_of = r.id and u.status = 'completed')
     order by id desc limit 3`,
    [mappingId],
  );
  return rows.map(({ id }: { id: string }) => id);
}

/** Worlds in which relations of a few things are kept in step by runs that end in the middle. */
export interface RelationHistories {
  parts: Parts;
  clock: VirtualClock;
  driver: Driver;
}

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
export const relatedOf = async (world: World) => ({
  here: (await readLocal(world)).relations,
  there: readRemote(world).relations,
});

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
    const settled = await differences();
    for (const [when, { here, there }] of [
      ['after readings of changes', afterChanges],
      ['after readings of everything', settled],
    ] as const)
      if (here.length + there.length > 0)
        throw doubt(`${when}: only here ${here.join(', ')}; only there ${there.join(', ')}`);
  } finally {
    await world.close();
  }
}

/** @throws Disagreement of the first history that ends with one. */
export async function liveManyRelations(
  histories: RelationHistories,
  count: number,
  seed: number,
): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const own = mix(seed, at);
    await liveRelations(histories, own).catch((error: Error) => {
      throw new Disagreement(`history ${at} (its own seed ${own}): ${error.message}`, { cause: error });
    });
  }
}
