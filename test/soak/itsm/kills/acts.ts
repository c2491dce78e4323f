import { createCards } from '../../../../domain/inventory/cards/bulk/bulk.create.ts';
import { archiveCard } from '../../../../domain/inventory/cards/cards.archive.ts';
import { patchCard } from '../../../../domain/inventory/cards/cards.patch.ts';
import { createRelation, deleteRelation } from '../../../../domain/inventory/relations/relations.commands.ts';
import { pick, type Random } from '../../../bench/landscape/random.ts';
import { type Kind, kinds, relationType, texts } from '../landscape.ts';
import { readLocal, readRemote, type Side, type World } from '../world.ts';

/** What people do on one side; things are named, so that the same can be done in two worlds. */
export type Act = (world: World) => Promise<void>;

/** How often each is done before a run, on either side. */
export interface Diligence {
  edits: number;
  conflicts: number;
  creations: number;
  removals: number;
  relations: number;
}

const cardOf = async ({ services: { db } }: World, name: string): Promise<string> =>
  (await db('cards').where({ name, status: 'ACTIVE' }).first('id')).id;
const recordOf = ({ instance: { store } }: World, name: string): string =>
  kinds.flatMap(({ table }) => store.of(table)).find(({ values }) => values.name === name)!.values.sys_id!;

const edit = {
  local:
    (name: string, path: string, value: string): Act =>
    async (world) =>
      void (await patchCard(world.ctx, await cardOf(world, name), { [path]: value })),
  remote:
    (name: string, column: string, value: string): Act =>
    async (world) =>
      void world.instance.elsewhere.update(recordOf(world, name), { [column]: value }),
};

const create = {
  local:
    ({ cardType }: Kind, name: string, description: string): Act =>
    async ({ ctx }) =>
      void (await createCards(ctx, [{ row_index: 0, type: cardType, name, description }], false)),
  remote:
    ({ table }: Kind, name: string, short_description: string): Act =>
    async ({ instance }) =>
      void instance.elsewhere.insert(table, { name, short_description }),
};

const remove = {
  local:
    (name: string): Act =>
    async (world) =>
      void (await archiveCard(world.ctx, await cardOf(world, name), {})),
  remote:
    (name: string): Act =>
    async (world) =>
      void world.instance.elsewhere.remove(recordOf(world, name)),
};

const relate = {
  local:
    (source: string, target: string): Act =>
    async (world) =>
      void (await createRelation(world.ctx, {
        type: relationType,
        source_id: await cardOf(world, source),
        target_id: await cardOf(world, target),
      })),
  remote:
    (source: string, target: string): Act =>
    async (world) => {
      const [parent, child] = [recordOf(world, source), recordOf(world, target)];
      world.instance.elsewhere.insert('cmdb_rel_ci', { parent, child, type: world.relationKind });
    },
};

const unrelate = {
  local:
    (source: string, target: string): Act =>
    async (world) => {
      const found = await world.services.db('relations').where({
        type: relationType,
        source_id: await cardOf(world, source),
        target_id: await cardOf(world, target),
      });
      await deleteRelation(world.ctx, found[0].id);
    },
  remote:
    (source: string, target: string): Act =>
    async (world) => {
      const [parent, child] = [recordOf(world, source), recordOf(world, target)];
      const found = world.instance.store
        .of('cmdb_rel_ci')
        .find(({ values }) => values.parent === parent && values.child === child);
      world.instance.elsewhere.remove(found!.values.sys_id!);
    },
};

const sides = ['local', 'remote'] as const;
/** What names begin with, so that they tell the kind. */
const nouns: Record<Kind['key'], string> = { application: 'Application', component: 'Server' };

/** What people do on both sides of a world as it is, each thing touched at most once but for conflicts. */
export async function createActs(world: World, random: Random, diligence: Diligence): Promise<Act[]> {
  // of nothing but letters and digits, so that no two of them are alike
  const word = () => Array.from({ length: 3 }, () => Math.floor(random() * 2 ** 31).toString(36)).join('');
  const there: Record<(typeof sides)[number], Side> = {
    local: await readLocal(world),
    remote: readRemote(world),
  };
  const touched = new Set<string>();
  /** Something that nobody has touched, and that is there on these sides. */
  const free = (...on: (typeof sides)[number][]): string | undefined => {
    const names = [...there[on[0]!].things.keys()]
      .filter((name) => !touched.has(name) && on.every((side) => there[side].things.has(name)))
      .sort();
    const name = names.length > 0 ? pick(random, names) : undefined;
    if (name !== undefined) touched.add(name);
    return name;
  };
  const acts: Act[] = [];
  const times = (count: number, act: () => void) => {
    for (let at = 0; at < count; at += 1) act();
  };
  for (const side of sides) {
    times(diligence.removals, () => {
      const name = free(side);
      if (name) acts.push(remove[side](name));
    });
    times(diligence.edits, () => {
      const name = free(side);
      if (!name) return;
      const { card_field, remote_field } = pick(random, texts);
      acts.push(edit[side](name, side === 'local' ? card_field : remote_field, word()));
    });
    times(diligence.creations, () => {
      const kind = pick(random, kinds);
      acts.push(create[side](kind, `${nouns[kind.key]} ${word()}`, word()));
    });
  }
  times(diligence.conflicts, () => {
    const name = free(...sides);
    if (!name) return;
    const { card_field, remote_field } = pick(random, texts);
    acts.push(edit.local(name, card_field, word()), edit.remote(name, remote_field, word()));
  });
  const related = new Set(sides.flatMap((side) => there[side].relations));
  for (const side of sides) {
    const calm = (text: string) => text.split(' > ').every((name) => !touched.has(name));
    const plain = [...there[side].things.keys()].filter((name) => !touched.has(name)).sort();
    const named = (noun: string) => plain.filter((name) => name.startsWith(noun));
    const [sources, targets] = [named(nouns.application), named(nouns.component)];
    times(diligence.relations, () => {
      if (sources.length === 0 || targets.length === 0) return;
      const [source, target] = [pick(random, sources), pick(random, targets)];
      if (related.has(`${source} > ${target}`)) return;
      related.add(`${source} > ${target}`);
      acts.push(relate[side](source, target));
    });
    times(diligence.relations, () => {
      const free = there[side].relations.filter((text) => calm(text) && related.has(text));
      if (free.length === 0) return;
      const text = pick(random, free);
      related.delete(text);
      acts.push(unrelate[side](...(text.split(' > ') as [string, string])));
    });
  }
  return acts;
}
