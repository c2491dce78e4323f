import { query } from '../../../platform/database.ts';
import { insertUser } from '../../access/users.store.ts';
import { loadCards } from '../../inventory/cards/cards.load.ts';
import { rescoreCards, saveCards } from '../../inventory/cards/cards.save.ts';
import { createCardWithin } from '../../inventory/cards/cards.write.ts';
import { applyFlows } from '../../inventory/data-flows/data-flows.write.ts';
import { bulkRelationsWithin } from '../../inventory/relations/relations.bulk.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import { demoLandscape } from './demo.landscape.ts';
import type { DemoLandscape } from './demo.types.ts';

// Concurrent processes fill the workspace only once.
const DEMO_LOCK = 7203006;

/**
 * Fills an empty workspace with the demo landscape, with the checks of users' requests, in one transaction. This
 * happens once; a workspace that has, or had, other cards is not changed.
 * @param today the day to which the landscape's dates are relative, YYYY-MM-DD.
 * @returns the counts, or undefined if there was nothing to do.
 */
export async function loadDemo(ctx: Ctx, today: string) {
  return await command(ctx, async (work) => {
    const { sql } = work;
    await query(sql).run`select pg_advisory_xact_lock(${DEMO_LOCK})`;
    if (await sql('settings').where({ key: 'demo' }).first('key')) return undefined;
    await sql('settings').insert({ key: 'demo', value: JSON.stringify({ offered: today }) });
    if (await sql('cards').first('id')) return undefined;
    const demo = demoLandscape(today);
    const users = await createUsers(work, demo);
    const tags = await createTags(work, demo);
    const ids = new Map<string, string>();
    for (const { parent_external_id, tags: _, approval: __, ...card } of demo.cards) {
      const parent_id = parent_external_id ? ids.get(parent_external_id)! : null;
      ids.set(card.external_id, await createCardWithin(work, ctx, { ...card, parent_id }));
    }
    await attach(work, demo, ids, tags, users);
    await rescoreCards(work, ctx, ids.values());
    await relate(work, ctx, demo, ids);
    await addFlows(work, ctx, demo, ids);
    await approve(work, ctx, demo, ids);
    return { cards: demo.cards.length, relations: demo.relations.length };
  });
}

/** @returns the users' ids by e-mail address. */
async function createUsers(work: Work, demo: DemoLandscape): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const user of demo.users) ids.set(user.email, (await insertUser(work, user)).id);
  return ids;
}

/** @returns the tags' ids by `Group/Tag`. */
async function createTags({ sql, raise }: Work, demo: DemoLandscape): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { tags, ...group } of demo.tagGroups) {
    const [made] = await sql('tag_groups')
      .insert({
        ...group,
        restrict_to_types: group.restrict_to_types && JSON.stringify(group.restrict_to_types),
      })
      .returning('id');
    const rows = tags.map((tag, sort_order) => ({ ...tag, sort_order, tag_group_id: made.id }));
    for (const tag of await sql('tags').insert(rows).returning(['id', 'name'])) {
      ids.set(`${group.name}/${tag.name}`, tag.id);
    }
  }
  raise(METAMODEL_TOPIC);
  return ids;
}

async function attach(
  { sql }: Work,
  demo: DemoLandscape,
  ids: Map<string, string>,
  tags: Map<string, string>,
  users: Map<string, string>,
): Promise<void> {
  await sql('card_tags').insert(
    demo.cards.flatMap((card) =>
      (card.tags ?? []).map((tag) => ({ card_id: ids.get(card.external_id)!, tag_id: tags.get(tag)! })),
    ),
  );
  await sql('stakeholders').insert(
    demo.stakeholders.map(({ card_external_id, email, role }) => ({
      card_id: ids.get(card_external_id)!,
      user_id: users.get(email)!,
      role,
    })),
  );
}

async function relate(work: Work, ctx: Ctx, demo: DemoLandscape, ids: Map<string, string>): Promise<void> {
  const results = await bulkRelationsWithin(
    work,
    ctx,
    demo.relations.map(({ source_external_id, target_external_id, ...relation }, row_index) => ({
      ...relation,
      row_index,
      action: 'upsert' as const,
      source: { id: ids.get(source_external_id)! },
      target: { id: ids.get(target_external_id)! },
    })),
  );
  const refused = results.find((row) => row.status === 'failed');
  if (refused) throw new Error(`relation ${refused.row_index} of the demo was refused: ${refused.error}`);
}

async function addFlows(work: Work, ctx: Ctx, demo: DemoLandscape, ids: Map<string, string>): Promise<void> {
  const card = (externalId: string) => ({ id: ids.get(externalId)! });
  const outcomes = await applyFlows(
    work,
    ctx,
    demo.flows.map(([source, target, over, objects, direction, frequency, description]) => ({
      ...{ direction, frequency, description },
      source: card(source),
      target: card(target),
      interface: card(over),
      data_objects: objects.split(' ').map(card),
    })),
  );
  const refused = outcomes.find(({ error }) => error);
  if (refused) throw refused.error;
}

async function approve(work: Work, ctx: Ctx, demo: DemoLandscape, ids: Map<string, string>): Promise<void> {
  const wanted = new Map(
    demo.cards.flatMap((card) =>
      card.approval ? [[ids.get(card.external_id)!, card.approval] as const] : [],
    ),
  );
  const cards = await loadCards(work, ctx, [...wanted.keys()]);
  await saveCards(
    work,
    ctx,
    [...wanted].map(([id, approval]) => ({
      before: cards.get(id)!,
      after: { ...cards.get(id)!, approval_status: approval },
      event: `card.approval_status.${approval === 'APPROVED' ? 'approve' : 'reject'}` as const,
    })),
  );
}
