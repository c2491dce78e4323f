import { createCards } from '../../../domain/inventory/cards/bulk/bulk.create.ts';
import { archiveCard } from '../../../domain/inventory/cards/cards.archive.ts';
import { patchCard } from '../../../domain/inventory/cards/cards.write.ts';
import { createRelation, deleteRelation } from '../../../domain/inventory/relations/relations.commands.ts';
import { query } from '../../../platform/database.ts';
import type { SideName } from './journal.ts';
import { type Kind, kinds, relationType, type texts } from './landscape.ts';
import type { World } from './world.ts';

/** Something that a person does to named things on a side. @returns false if they are not there. */
type Action<A extends unknown[]> = Record<SideName, (world: World, ...args: A) => Promise<boolean>>;

const cardOf = async ({ services: { db } }: World, name: string): Promise<string | undefined> =>
  (await db('cards').where({ name, status: 'ACTIVE' }).first('id'))?.id;
const recordOf = ({ instance: { store } }: World, name: string): string | undefined =>
  kinds.flatMap(({ table }) => store.of(table)).find(({ values }) => values.name === name)?.values.sys_id;

export const edit: Action<[name: string, text: (typeof texts)[number], value: string]> = {
  async local(world, name, { card_field }, value) {
    const id = await cardOf(world, name);
    if (id) await patchCard(world.ctx, id, { [card_field]: value });
    return id !== undefined;
  },
  async remote(world, name, { remote_field }, value) {
    const id = recordOf(world, name);
    if (id) world.instance.elsewhere.update(id, { [remote_field]: value });
    return id !== undefined;
  },
};

export const create: Action<[kind: Kind, name: string, description: string]> = {
  async local({ ctx }, { cardType }, name, description) {
    const { results } = await createCards(ctx, [{ row_index: 0, type: cardType, name, description }], false);
    if (results[0]?.status !== 'created') throw new Error(`no card was created: ${JSON.stringify(results)}`);
    return true;
  },
  async remote({ instance }, { table }, name, short_description) {
    instance.elsewhere.insert(table, { name, short_description });
    return true;
  },
};

export const remove: Action<[name: string]> = {
  async local(world, name) {
    const id = await cardOf(world, name);
    if (id) await archiveCard(world.ctx, id, {});
    return id !== undefined;
  },
  async remote(world, name) {
    const id = recordOf(world, name);
    if (id) world.instance.elsewhere.remove(id);
    return id !== undefined;
  },
};

export const relate: Action<[source: string, target: string]> = {
  async local(world, source, target) {
    const [source_id, target_id] = [await cardOf(world, source), await cardOf(world, target)];
    if (!source_id || !target_id) return false;
    await createRelation(world.ctx, { type: relationType, source_id, target_id });
    return true;
  },
  async remote(world, source, target) {
    const [parent, child] = [recordOf(world, source), recordOf(world, target)];
    if (!parent || !child) return false;
    world.instance.elsewhere.insert('cmdb_rel_ci', { parent, child, type: world.relationKind });
    return true;
  },
};

export const unrelate: Action<[source: string, target: string]> = {
  async local({ services: { db }, ctx }, source, target) {
    const rows = await query(db).rows`
       select r.id from relations r join cards s on s.id = r.source_id join cards t on t.id = r.target_id
       where r.type = ${relationType} and s.name = ${source} and t.name = ${target}`;
    if (rows[0]) await deleteRelation(ctx, rows[0].id);
    return rows[0] !== undefined;
  },
  async remote(world, source, target) {
    const [parent, child] = [recordOf(world, source), recordOf(world, target)];
    const found = world.instance.store
      .of('cmdb_rel_ci')
      .find(({ values }) => values.parent === parent && values.child === child);
    if (found) world.instance.elsewhere.remove(found.values.sys_id!);
    return found !== undefined;
  },
};
