import { between, pick, type Random } from '../../bench/landscape/random.ts';
import { create, edit, relate, remove, unrelate } from './actions.ts';
import { createExpectations, type Expectations } from './expectations.ts';
import { type SideName, sides } from './journal.ts';
import { kinds, texts } from './landscape.ts';
import type { World } from './world.ts';

/** People on both sides, who make, change and remove things and relate them, each without knowing of the others. */
export interface People {
  expected: Expectations;
  /** Somebody does something, on either side. Never rejects: what cannot be done is not done. */
  act(): Promise<void>;
}

export async function createPeople(world: World, random: Random): Promise<People> {
  const expected = await createExpectations(world);
  // of nothing but letters and digits, so that no two of them are alike
  const word = () => Array.from({ length: 3 }, () => Math.floor(random() * 2 ** 31).toString(36)).join('');

  const acts: Record<string, (side: SideName) => Promise<unknown>> = {
    async edit(side) {
      const name = expected.choose(random, side, 'edit');
      if (name) await edit[side](world, name, pick(random, texts), word());
    },
    create: (side) => create[side](world, pick(random, kinds), word(), word()),
    async remove(side) {
      const name = expected.choose(random, side, 'remove');
      if (name) await remove[side](world, name);
    },
    async relate(side) {
      const ends = expected.chooseEnds(random);
      if (!ends) return;
      const isDone = await relate[side](world, ...ends);
      // the journal of the remote reports its own relations
      if (isDone && side === 'local') expected.related(...ends, true);
    },
    async unrelate(side) {
      const ends = expected.chooseRelation(random);
      if (!ends) return;
      if ((await unrelate[side](world, ...ends)) && side === 'local') expected.related(...ends, false);
    },
  };
  const weighted = ['edit', 'edit', 'edit', 'create', 'remove', 'relate', 'unrelate'];

  return {
    expected,
    async act() {
      await expected.learn();
      const act = acts[pick(random, weighted)]!;
      // what has gone meanwhile cannot be changed any more
      await act(sides[between(random, 0, 1)]!).catch((error: Error) => expected.failed(error));
    },
  };
}
