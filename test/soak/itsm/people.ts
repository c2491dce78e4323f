import { createCards } from '../../../domain/inventory/cards/bulk/bulk.create.ts';
import { archiveCard } from '../../../domain/inventory/cards/cards.archive.ts';
import { patchCard } from '../../../domain/inventory/cards/cards.patch.ts';
import { createRelation, deleteRelation } from '../../../domain/inventory/relations/relations.commands.ts';
import { between, pick, type Random } from '../../bench/landscape/random.ts';
import type { SideName } from './chronicle.ts';
import { createExpectations, type Expectations } from './expectations.ts';
import { kinds, relationType, texts } from './landscape.ts';
import type { World } from './world.ts';

/** People on both sides, who make, change and remove things and relate them, each without knowing of the others. */
export interface People {
  expected: Expectations;
  /** Somebody does something, on either side. Never rejects: what cannot be done is not done. */
  act(): Promise<void>;
}

export async function createPeople(world: World, random: Random): Promise<People> {
  const { services, ctx, instance, relationKind } = world;
  const { db } = services;
  const expected = await createExpectations(world);
  // of nothing but letters and digits, so that no two of them are alike
  const word = () => Array.from({ length: 3 }, () => Math.floor(random() * 2 ** 31).toString(36)).join('');

  const card = async (name: string): Promise<string | undefined> =>
    (await db('cards').where({ name, status: 'ACTIVE' }).first('id'))?.id;
  const record = (name: string): string | undefined => {
    const id = expected.recordOf(name);
    return id !== undefined && instance.store.rows.has(id) ? id : undefined;
  };

  const acts: Record<string, Record<SideName, () => Promise<void>>> = {
    edit: {
      async local() {
        const name = expected.choose(random, 'local', 'edit');
        const id = name && (await card(name));
        if (!id) return;
        await patchCard(ctx, id, { [pick(random, texts).card_field]: word() });
      },
      async remote() {
        const name = expected.choose(random, 'remote', 'edit');
        const id = name && record(name);
        if (id) instance.elsewhere.update(id, { [pick(random, texts).remote_field]: word() });
      },
    },
    create: {
      async local() {
        const { cardType } = pick(random, kinds);
        const card = { row_index: 0, type: cardType, name: word(), description: word() };
        const { results } = await createCards(ctx, [card], false);
        if (results[0]?.status !== 'created') throw new Error(`no card was made: ${JSON.stringify(results)}`);
      },
      async remote() {
        instance.elsewhere.insert(pick(random, kinds).table, { name: word(), short_description: word() });
      },
    },
    remove: {
      async local() {
        const name = expected.choose(random, 'local', 'remove');
        const id = name && (await card(name));
        if (id) await archiveCard(ctx, id, {});
      },
      async remote() {
        const name = expected.choose(random, 'remote', 'remove');
        const id = name && record(name);
        if (id) instance.elsewhere.remove(id);
      },
    },
    relate: {
      async local() {
        const ends = expected.chooseEnds(random);
        if (!ends) return;
        const [source, target] = ends;
        const [source_id, target_id] = [await card(source), await card(target)];
        if (!source_id || !target_id) return;
        await createRelation(ctx, { type: relationType, source_id, target_id });
        expected.related(source, target, true);
      },
      async remote() {
        const [parent, child] = (expected.chooseEnds(random) ?? []).map(record);
        if (parent && child) instance.elsewhere.insert('cmdb_rel_ci', { parent, child, type: relationKind });
      },
    },
    unrelate: {
      async local() {
        const ends = expected.chooseRelation(random);
        if (!ends) return;
        const [source, target] = ends;
        const { rows } = await db.raw(
          `select r.id from relations r join cards s on s.id = r.source_id join cards t on t.id = r.target_id
           where r.type = ? and s.name = ? and t.name = ?`,
          [relationType, source, target],
        );
        if (!rows[0]) return;
        await deleteRelation(ctx, rows[0].id);
        expected.related(source, target, false);
      },
      async remote() {
        const ends = expected.chooseRelation(random);
        const [parent, child] = (ends ?? []).map(record);
        const found = instance.store
          .of('cmdb_rel_ci')
          .find(({ values }) => values.parent === parent && values.child === child);
        if (parent && child && found) instance.elsewhere.remove(found.values.sys_id!);
      },
    },
  };
  const weighted = ['edit', 'edit', 'edit', 'create', 'remove', 'relate', 'unrelate'];

  return {
    expected,
    async act() {
      await expected.learn();
      const act = acts[pick(random, weighted)]![between(random, 0, 1) === 0 ? 'local' : 'remote'];
      // what has gone meanwhile cannot be changed any more
      await act().catch((error: Error) => expected.failed(error));
    },
  };
}
