import { mix, mulberry32, pick } from '../../../bench/landscape/random.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { openRelationHistories, RELATIONS, relatedOf, relatedWorld } from '../../../soak/itsm/relations.ts';
import type { World } from '../../../soak/itsm/world.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const seed = Number(process.env.ITSM_SEED ?? 2611);
const HISTORIES = 4;

const clock = createVirtualClock(Date.now());
const t = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const histories = openRelationHistories({ services: t.services, ctx: await t.ctx() }, clock);
const driver = closeAfterAll(histories.driver);

async function inWorld(name: string, live: (world: World) => Promise<void>): Promise<void> {
  const world = await relatedWorld(histories, name);
  try {
    expect((await relatedOf(world)).here).toHaveLength(9);
    await live(world);
  } finally {
    await world.close();
  }
}
const runOf = async (world: World, how: { complete?: boolean } = {}) => {
  clock.advance(600_000);
  const { run } = await driver.run(world, world.mappings.application, how);
  expect(run).toMatchObject({ error_message: null, status: 'completed' });
};

it.each([
  [1, 'completed'],
  [100, 'failed'],
])('a tombstone is not lost if another row replaces it, in %i pages', async (pages, status) => {
  await inWorld(`repeated ${pages}`, async (world) => {
    const { instance } = world;
    clock.advance(600_000);
    for (const { values } of instance.store.of(RELATIONS).slice(0, 3))
      instance.elsewhere.remove(values.sys_id!);
    instance.repeats = { table: 'sys_audit_delete', pages };
    expect((await driver.run(world, world.mappings.application)).run.status).toBe(status);
    expect(instance.repeats.pages).toBeLessThan(pages);
    instance.repeats = undefined;
    if (status === 'failed') await runOf(world);
    const { here, there } = await relatedOf(world);
    expect(here).toEqual(there);
  });
});

it(`a full read corrects all relations, whatever was stored before (seed ${seed})`, async () => {
  for (let at = 0; at < HISTORIES; at += 1) {
    await inWorld(`${seed} ${at}`, async (world) => {
      const { instance, services, mappings } = world;
      const { db } = services;
      const random = mulberry32(mix(seed, at));
      const rows = () => instance.store.of(RELATIONS);
      clock.advance(600_000);
      for (let step = 0; step < 8; step += 1) {
        const { sys_id, parent = '', child = '', type = '' } = pick(random, rows()).values;
        const what = random();
        if (what < 0.7) instance.elsewhere.remove(sys_id!);
        // replaced by another relation with the same ends
        if (what < 0.2) instance.elsewhere.insert(RELATIONS, { parent, child, type });
        // what an earlier run has stored about it is wrong
        if (what < 0.4) {
          const key = { mapping_id: mappings.application, remote_relation_id: sys_id! };
          await db('itsm_remote_links').where(key).update('remote_relation_id', `ghost ${step}`);
        }
        // its tombstone is hidden
        for (const { values } of random() < 0.5 ? instance.store.of('sys_audit_delete') : [])
          instance.store.rows.get(values.sys_id!)!.values.documentkey = 'kept back';
        if (random() < 0.4) await runOf(world, { complete: random() < 0.3 });
        instance.store.skew = pick(random, [0, 420_000]);
      }
      instance.store.skew = 0;
      await runOf(world, { complete: true });
      const { here, there } = await relatedOf(world);
      expect(here).toEqual(there);
      const left = await db('itsm_remote_links')
        .where({ mapping_id: mappings.application })
        .pluck('remote_relation_id');
      expect(left.sort()).toEqual(rows().map(({ values }) => values.sys_id));
    });
  }
}, 120_000);
