import fc from 'fast-check';
import { createCards } from '../../../../domain/inventory/cards/bulk/bulk.create.ts';
import {
  archiveCards,
  deleteCards,
  restoreCards,
} from '../../../../domain/inventory/cards/bulk/bulk.each.ts';
import { patchCards } from '../../../../domain/inventory/cards/bulk/bulk.patch.ts';
import { archiveCard, restoreCard } from '../../../../domain/inventory/cards/cards.archive.ts';
import { deleteCard } from '../../../../domain/inventory/cards/cards.removal.ts';
import { createCard, patchCard } from '../../../../domain/inventory/cards/cards.write.ts';
import { createRelation } from '../../../../domain/inventory/relations/relations.commands.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { query } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { closeAfterAll, createTestServices, type TestServices } from '../../../support/harness.ts';
import { forAllAsync } from '../../../support/property.ts';

/*
 * Two workspaces hold the same cards. In one a bulk operation is carried out, in the other the single operations that it
 * stands for; then both hold the same again, and have told the same of each card.
 */

const many = closeAfterAll(await createTestServices());
const single = closeAfterAll(await createTestServices());
for (const t of [many, single]) {
  await t.services.db('relation_types').where({ key: 'relAppToBC' }).update({ target_mandatory: true });
  await t.services.db.raw(`select raise_topics(array['metamodel'])`);
}

type Values = Record<string, unknown>;
const TYPE = 'BusinessCapability';
const strategies = ['cascade', 'disconnect', 'reparent'] as const;

/** A forest by the parents' places, each before its children, and what is related or approved. */
const forest = fc.record({
  parents: fc.array(fc.option(fc.nat(20), { freq: 3 }), { minLength: 4, maxLength: 9 }),
  approved: fc.array(fc.nat(20), { maxLength: 4 }),
  archived: fc.array(fc.nat(20), { maxLength: 3 }),
  related: fc.array(fc.nat(20), { maxLength: 3 }),
});
const patch = fc.record(
  {
    description: fc.constantFrom(null, 'text', 'other'),
    alias: fc.constantFrom(null, 'A'),
    lifecycle: fc.constantFrom<Values | null>(null, { active: '2020-01-01' }, { endOfLife: '2021-01-01' }),
    attributes: fc.constantFrom<Values | null>(null, { isCoreCapability: true }, { isCoreCapability: null }),
    parent: fc.option(fc.nat(20), { freq: 2 }),
  },
  { requiredKeys: [] },
);
const act = fc.record({
  kind: fc.constantFrom('patch', 'patch', 'archive', 'restore', 'delete', 'create'),
  chosen: fc.uniqueArray(fc.nat(20), { minLength: 1, maxLength: 5 }),
  patch,
  strategy: fc.constantFrom(...strategies),
});

/** Makes the forest; ids differ between workspaces, names do not. */
async function plant(ctx: Ctx, tree: typeof forest extends fc.Arbitrary<infer T> ? T : never, tag: string) {
  const ids: string[] = [];
  for (const [n, parent] of tree.parents.entries()) {
    const parent_id = parent === null || n === 0 ? null : ids[parent % n]!;
    try {
      ids.push((await createCard(ctx, { type: TYPE, name: `${tag} ${n}`, parent_id })).id);
    } catch (error) {
      // too deep: a root instead
      if (!(error instanceof EstateError)) throw error;
      ids.push((await createCard(ctx, { type: TYPE, name: `${tag} ${n}` })).id);
    }
  }
  const at = (n: number) => ids[n % ids.length]!;
  for (const n of new Set(tree.related)) {
    const { id } = await createCard(ctx, { type: 'Application', name: `${tag} app ${n}` });
    await createRelation(ctx, { type: 'relAppToBC', source_id: id, target_id: at(n) });
  }
  await ctx.db('cards').whereIn('id', tree.approved.map(at)).update({ approval_status: 'APPROVED' });
  for (const n of tree.archived)
    await archiveCard(ctx, at(n), { child_strategy: 'disconnect' }).catch(() => undefined);
  return ids;
}

/** What stands in the workspace, by name instead of id. */
async function picture({ services: { db } }: TestServices, tag: string): Promise<unknown> {
  const rows = await query(db).rows`
       select c.name, p.name as parent, c.alias, c.description, c.lifecycle, c.attributes, c.status,
         c.approval_status, c.data_quality, c.archived_at is null as live
       from cards c left join cards p on p.id = c.parent_id
       where c.name like ${`${tag} %`} order by c.name, p.name`;
  return rows;
}

/** What the events since a position say of each card in sum: the first old and the last new value of every field. */
async function told({ services: { db } }: TestServices, after: number, names: Map<string, string>) {
  const sums = new Map<string, Map<string, { old: unknown; new: unknown }>>();
  const lasting = new Set<string>();
  for (const { card_id, event_type, data } of await db('events')
    .where('position', '>', after)
    .orderBy('position')) {
    const key = `${data.relation_label ?? 'card'} ${names.get(card_id) ?? data.name}`;
    const fields = sums.get(key) ?? new Map();
    for (const [field, change] of Object.entries<{ old: unknown; new: unknown }>(data.changes)) {
      const value = (side: 'old' | 'new') => {
        if (field === 'archived_at') return change[side] === null ? null : 'some time';
        return field === 'parent_id' ? (names.get(String(change[side])) ?? null) : change[side];
      };
      const first = fields.get(field);
      fields.set(field, { old: first ? first.old : value('old'), new: value('new') });
    }
    sums.set(key, fields);
    if (event_type !== 'card.updated') lasting.add(key);
  }
  const net = [...sums].sort().map(([key, fields]): [string, object] => {
    const changed = [...fields].filter(
      ([, { old, new: now }]) => JSON.stringify(old) !== JSON.stringify(now),
    );
    return [key, Object.fromEntries(changed.sort(([a], [b]) => (a < b ? -1 : 1)))];
  });
  // moved one after the other, a card may get a level that the next move takes back: in sum, nothing is told of it
  return Object.fromEntries(
    net.filter(([key, changes]) => lasting.has(key) || Object.keys(changes).length > 0),
  );
}

const position = async ({ services: { db } }: TestServices): Promise<number> =>
  (await db('events').max('position as n').first())?.n ?? 0;

const codeOf = (error: unknown): string => {
  if (error instanceof EstateError && error.status < 500) return error.code;
  throw error;
};

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

/** The bulk operation. @returns the code of its refusal. */
async function carryOutMany(
  ctx: Ctx,
  { kind, patch: { parent, ...values }, strategy }: Act,
  ids: string[],
  all: string[],
  tag: string,
) {
  const move = parent === undefined ? {} : { parent_id: parent === null ? null : all[parent % all.length]! };
  const removal = { card_ids: ids, child_strategy: strategy, dry_run: false };
  if (kind === 'patch') await patchCards(ctx, ids, { ...values, ...move } as never, false);
  else if (kind === 'archive') await archiveCards(ctx, removal);
  else if (kind === 'delete') await deleteCards(ctx, removal);
  else if (kind === 'restore') await restoreCards(ctx, { card_ids: ids, dry_run: false });
  else {
    const rows = ids.map((parent_id, n) => ({
      row_index: n,
      type: TYPE,
      name: `${tag} new ${n % 2}`,
      ...values,
      parent_id,
    }));
    await createCards(ctx, rows as never, false);
  }
}

/** The single operations, in an order in which each can be carried out where all of them can. */
async function carryOutSingly(
  ctx: Ctx,
  { kind, patch: { parent, ...values }, strategy }: Act,
  ids: string[],
  all: string[],
  tag: string,
) {
  const move = parent === undefined ? {} : { parent_id: parent === null ? null : all[parent % all.length]! };
  const rows = await query(ctx.db).rows`with recursive up as (
       select id, parent_id, id as start, 1 as depth from cards where id = any(${ids}::uuid[])
       union all select c.id, c.parent_id, up.start, up.depth + 1 from up join cards c on c.id = up.parent_id)
     select start as id, max(depth) as depth from up group by start`;
  const depth = new Map<string, number>(
    rows.map((row: { id: string; depth: number }) => [row.id, row.depth]),
  );
  const down = ids.toSorted((a, b) => depth.get(a)! - depth.get(b)!);
  for (const [n, id] of (kind === 'archive' || kind === 'delete'
    ? down.toReversed()
    : kind === 'create'
      ? ids
      : down
  ).entries()) {
    const row = await ctx.db('cards').where({ id }).first('status');
    if (kind === 'patch') await patchCard(ctx, id, { ...values, ...move } as never);
    else if (kind === 'archive') {
      if (row?.status === 'ACTIVE') await archiveCard(ctx, id, { child_strategy: strategy });
    } else if (kind === 'delete') {
      if (row) await deleteCard(ctx, id, { child_strategy: strategy });
    } else if (kind === 'restore') {
      if (row.status === 'ARCHIVED') await restoreCard(ctx, id, {});
    } else {
      const body = { type: TYPE, name: `${tag} new ${n % 2}`, ...values, parent_id: id };
      // a row that fails stops no other
      await createCard(ctx, body as never).catch(codeOf);
    }
  }
}

it('comes to the same as single operations on each card, in tables and in events', async () => {
  let serial = 0;
  let done = 0;
  await forAllAsync({ numRuns: 30, endOnFailure: true }, [forest, act], async (tree, one) => {
    serial += 1;
    const tag = `Forest ${serial}`;
    const ctxs = { many: await many.ctx(), single: await single.ctx() };
    const ids = { many: await plant(ctxs.many, tree, tag), single: await plant(ctxs.single, tree, tag) };
    expect(await picture(many, tag)).toEqual(await picture(single, tag));
    const pick = (all: string[]) => [...new Set(one.chosen.map((n) => all[n % all.length]!))];
    const before = { many: await position(many), single: await position(single) };
    const refusal = await carryOutMany(ctxs.many, one, pick(ids.many), ids.many, tag).then(
      () => undefined,
      codeOf,
    );
    if (refusal !== undefined) {
      // all or none: and some single operation is refused as well
      expect(await position(many)).toBe(before.many);
      const alone = await carryOutSingly(ctxs.single, one, pick(ids.single), ids.single, tag).then(
        () => undefined,
        codeOf,
      );
      expect([refusal, alone !== undefined]).toEqual([refusal, true]);
      return;
    }
    await carryOutSingly(ctxs.single, one, pick(ids.single), ids.single, tag);
    expect(await picture(many, tag)).toEqual(await picture(single, tag));
    const names = (all: string[]) => new Map(all.map((id, n) => [id, `${tag} ${n}`]));
    expect(await told(many, before.many, names(ids.many))).toEqual(
      await told(single, before.single, names(ids.single)),
    );
    done += 1;
  });
  // refusals alone would prove nothing
  expect(done).toBeGreaterThan(12);
});
