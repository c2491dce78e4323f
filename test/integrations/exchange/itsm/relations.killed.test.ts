import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import {
  liveManyRelations,
  openRelationHistories,
  RELATIONS,
  relatedOf,
  relatedWorld,
} from '../../../soak/itsm/relations.ts';
import type { World } from '../../../soak/itsm/world.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

// `npm run soak -- --histories 500 --through relations --seed S` executes more of them
const seed = Number(process.env.ITSM_SEED ?? 2611);
const HISTORIES = 1;
/** Each scenario kills a run at one in this many transactions, beginning by the seed; 1 tries all. */
const EVERY = Number(process.env.ITSM_EVERY ?? 8);
const SIZE = { applications: 2, components: 1, relations: 2 };

const clock = createVirtualClock(Date.now());
const t = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const histories = openRelationHistories({ services: t.services, ctx: await t.ctx() }, clock);
closeAfterAll(histories.driver);
const world = closeAfterAll(await relatedWorld(histories, 'few', SIZE));

type Row = { id: string; ends: { parent: string; child: string; type: string } };

const first = ({ instance }: World, at: number): Row => {
  const rows = instance.store.of(RELATIONS);
  const { sys_id: id = '', parent = '', child = '', type = '' } = rows[at % rows.length]!.values;
  return { id, ends: { parent, child, type } };
};

/** Changes before a run and after its kill, and whether the relation exists in the end. */
type Scenario = (
  world: World,
  row: Row,
) => { before: () => void; meanwhile: () => void; existsInTheEnd: boolean };

const scenarios: [string, Scenario][] = [
  [
    'is deleted',
    ({ instance }, { id }) => ({
      before: () => instance.elsewhere.remove(id),
      meanwhile: () => {},
      existsInTheEnd: false,
    }),
  ],
  [
    'is deleted, and created again after the run was killed',
    ({ instance }, { id, ends }) => ({
      before: () => instance.elsewhere.remove(id),
      meanwhile: () => void instance.elsewhere.insert(RELATIONS, ends),
      existsInTheEnd: true,
    }),
  ],
  [
    'is created again, and deleted after the run was killed',
    ({ instance }, { id, ends }) => ({
      before: () => void instance.elsewhere.insert(RELATIONS, ends),
      meanwhile: () => instance.elsewhere.remove(id),
      existsInTheEnd: true,
    }),
  ],
  [
    'is replaced, and the new one deleted after the run was killed',
    ({ instance }, { id, ends }) => {
      let other = '';
      return {
        before: () => {
          instance.elsewhere.remove(id);
          other = instance.elsewhere.insert(RELATIONS, ends).values.sys_id!;
        },
        meanwhile: () => instance.elsewhere.remove(other),
        existsInTheEnd: false,
      };
    },
  ],
];

it.each(scenarios)(
  `a relation that %s is equal on both sides, wherever the run is killed (seed ${seed})`,
  async (name, scenario) => {
    const { instance, mappings } = world;
    // so that the scenarios do not all try the same transactions
    const offset = seed + 2 * scenarios.findIndex(([one]) => one === name);
    for (let at = offset % EVERY, killed = true; killed; at += EVERY) {
      // long enough that no delta contains the relation again
      clock.advance(600_000);
      const row = first(world, at);
      const { before, meanwhile, existsInTheEnd } = scenario(world, row);
      before();
      killed = false;
      const kill = {
        at,
        after: false,
        meanwhile: async () => {
          killed = true;
          meanwhile();
        },
      };
      await histories.driver.run(world, mappings.application, { kills: [kill] });
      if (!killed) meanwhile();
      clock.advance(30_000);
      expect((await histories.driver.run(world, mappings.application)).run.status).toBe('completed');
      const { here, there } = await relatedOf(world);
      expect(here, `killed before ${at}`).toEqual([...new Set(there)]);
      if (!existsInTheEnd) {
        instance.elsewhere.insert(RELATIONS, row.ends);
        await histories.driver.run(world, mappings.application);
      }
      expect((await relatedOf(world)).here).toHaveLength(SIZE.relations);
    }
  },
  300_000,
);

it.each([false, true])(
  'a relation that is restored under its own key is retained (full read: %s)',
  async (complete) => {
    const before = await relatedOf(world);
    const { id, ends } = first(world, 0);
    clock.advance(600_000);
    world.instance.elsewhere.remove(id);
    world.instance.store.insert(RELATIONS, ends, 'admin', id);
    expect((await histories.driver.run(world, world.mappings.application, { complete })).changes).toBe(0);
    expect((await relatedOf(world)).here).toEqual(before.here);
  },
);

// replaces the world of the tests above
it(`relations converge after any changes, wherever runs are killed (seed ${seed})`, async () => {
  await liveManyRelations(histories, HISTORIES, seed);
}, 120_000);
