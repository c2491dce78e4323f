import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { archiveCards } from '../../../../domain/inventory/cards/bulk/bulk.archive.ts';
import { patchCards } from '../../../../domain/inventory/cards/bulk/bulk.patch.ts';
import { archiveCard, restoreCard, setApproval } from '../../../../domain/inventory/cards/cards.archive.ts';
import { createCard } from '../../../../domain/inventory/cards/cards.create.ts';
import { deleteCard } from '../../../../domain/inventory/cards/cards.delete.ts';
import { loadCards } from '../../../../domain/inventory/cards/cards.load.ts';
import { patchCard } from '../../../../domain/inventory/cards/cards.patch.ts';
import { mergeCards } from '../../../../domain/inventory/cards/merge/merge.command.ts';
import { undoMerge } from '../../../../domain/inventory/cards/merge/merge.undo.ts';
import { dataQuality, qualityFacts } from '../../../../domain/inventory/cards/rules/quality.ts';
import { bulkRelations } from '../../../../domain/inventory/relations/relations.bulk.ts';
import {
  createRelation,
  deleteRelation,
  patchRelation,
} from '../../../../domain/inventory/relations/relations.commands.ts';
import { command } from '../../../../domain/kernel/command.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const t = closeAfterAll(await createTestServices());
const { db } = t.services;
await db('relation_types')
  .where({ key: 'relAppToBC' })
  .update({ source_mandatory: true, cardinality: '1:n' });
await db.raw(`select raise_topics(array['metamodel'])`);
const ctx = await t.ctx();

type Values = Record<string, unknown>;
const cardColumns = [
  'name',
  'subtype',
  'alias',
  'description',
  'parent_id',
  'external_id',
  'status',
  'approval_status',
  'data_quality',
  'archived_at',
];

/** Builds the tables' content from the events alone. */
async function replayed(): Promise<{ cards: Map<string, Values>; relations: Map<string, Values> }> {
  const cards = new Map<string, Values>();
  const relations = new Map<string, Values>();
  for (const { event_type, card_id, relation_id, data } of await t.services
    .db('events')
    .orderBy('position')) {
    const [map, id] = relation_id ? [relations, relation_id] : [cards, card_id];
    const identity = relation_id
      ? { type: data.type, source_id: data.source_id, target_id: data.target_id }
      : { type: data.type };
    const values: Values = event_type.endsWith('.created') ? identity : map.get(id)!;
    for (const [field, change] of Object.entries<{ old: unknown; new: unknown }>(data.changes)) {
      // what an event calls old is what the events before it have told
      expect(change.old).toEqual(values[field] ?? null);
      if (change.new === null) delete values[field];
      else values[field] = change.new;
    }
    if (event_type.endsWith('.deleted')) {
      expect(Object.keys(values).sort()).toEqual(Object.keys(identity).sort());
      map.delete(id);
    } else map.set(id, values);
  }
  return { cards, relations };
}

const flat = (prefix: string, values: Values | null) =>
  Object.fromEntries(Object.entries(values ?? {}).map(([key, value]) => [`${prefix}.${key}`, value]));
const withoutNulls = (values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

/** The tables' content in the same form. */
async function stored(): Promise<{ cards: Map<string, Values>; relations: Map<string, Values> }> {
  const cards = await db('cards').select('*', db.raw('utc(archived_at) as archived_at'));
  const relations = await db('relations');
  return {
    cards: new Map(
      cards.map((row) => [
        row.id,
        withoutNulls({
          type: row.type,
          ...Object.fromEntries(cardColumns.map((column) => [column, row[column]])),
          ...flat('lifecycle', row.lifecycle),
          ...flat('attributes', row.attributes),
        }),
      ]),
    ),
    relations: new Map(
      relations.map((row) => [
        row.id,
        withoutNulls({
          type: row.type,
          source_id: row.source_id,
          target_id: row.target_id,
          description: row.description,
          ...flat('attributes', row.attributes),
        }),
      ]),
    ),
  };
}

const name = fc.constantFrom('Ada', 'ada ', 'Bob', 'Cy', 'Dee', 'Eve', 'Flo', 'Gus');
const input = fc.record(
  {
    name,
    description: fc.constantFrom(null, 'text', 'other'),
    alias: fc.constantFrom(null, 'A', 'B'),
    external_id: fc.constantFrom(null, 'X-1', 'X-2', 'X-3'),
    lifecycle: fc.constantFrom<Values | null>(
      null,
      { active: '2020-01-01' },
      { active: null, endOfLife: '2021-01-01' },
      { plan: '2022-01-01' },
    ),
    attributes: fc.constantFrom<Values | null>(
      null,
      { timeModel: 'invest' },
      { timeModel: null, costTotalAnnual: 5 },
      { isCoreCapability: true },
      { capabilityLevel: 'Macro' },
      { capabilityLevel: null },
    ),
    parent: fc.option(fc.nat(), { freq: 3 }),
  },
  { requiredKeys: [] },
);
const strategy = fc.constantFrom('cascade', 'disconnect', 'reparent', undefined);
const step = fc.record({
  kind: fc.constantFrom(
    'create',
    'create',
    'create',
    'patch',
    'patch',
    'patch',
    'archive',
    'restore',
    'delete',
    'approve',
    'relate',
    'relate',
    'bulk',
    'patchRelation',
    'unrelate',
    'patchMany',
    'archiveMany',
    'merge',
    'merge',
    'merge',
    'merge',
    'unmerge',
    'unmerge',
  ),
  type: fc.constantFrom('Application', 'BusinessCapability'),
  name,
  input,
  pick: fc.nat(),
  other: fc.nat(),
  strategy,
  related: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const choose = <T>(list: T[], n: number): T | undefined => list[n % Math.max(list.length, 1)];

async function carryOut(one: Step): Promise<void> {
  const cards = await db('cards').orderBy('id').select('id', 'type');
  const relations = await db('relations').orderBy('id').select('id');
  const { parent, ...values } = one.input;
  const parent_id = parent == null ? parent : (choose(cards, parent)?.id ?? null);
  const body = { ...values, ...(parent_id === undefined ? {} : { parent_id: parent_id as string | null }) };
  const id = choose(cards, one.pick)?.id;
  const some = cards.filter((_, n) => (n + one.pick) % 3 === 0).map((card) => card.id);
  if (one.kind === 'create') {
    await createCard(ctx, { ...body, type: one.type, name: one.name });
  } else if (id === undefined) {
    return;
  } else if (one.kind === 'patchMany') {
    const { name: _, external_id: __, ...rest } = body;
    if (some.length > 0) await patchCards(ctx, some, rest, false);
  } else if (one.kind === 'archiveMany') {
    if (some.length === 0) return;
    await archiveCards(ctx, { card_ids: some, child_strategy: one.strategy ?? null, dry_run: false });
  } else if (one.kind === 'merge') {
    const survivor = cards.find((card) => card.id === id)!;
    const other = choose(
      cards.filter((card) => card.type === survivor.type && card.id !== id),
      one.other,
    );
    if (!other) return;
    await mergeCards(ctx, { survivor_id: id, merged_ids: [other.id], dry_run: false });
  } else if (one.kind === 'unmerge') {
    const merge = choose(await db('card_merges').whereNull('undone_at').orderBy('id').select('id'), one.pick);
    if (merge) await undoMerge(ctx, merge.id, { dry_run: false, force: one.related });
  } else if (one.kind === 'patch') await patchCard(ctx, id, body);
  else if (one.kind === 'archive' || one.kind === 'delete') {
    const request = { child_strategy: one.strategy, cascade_all_related: one.related } as never;
    await (one.kind === 'archive' ? archiveCard : deleteCard)(ctx, id, request);
  } else if (one.kind === 'restore') {
    const row = await db('cards').where({ id }).first('archive_batch_id');
    const batch = await db('cards').where({ archive_batch_id: row.archive_batch_id }).select('id');
    const also = one.related ? batch.map((card) => card.id) : [];
    await restoreCard(ctx, id, { also_restore_card_ids: also });
  } else if (one.kind === 'approve') {
    await setApproval(ctx, id, one.related ? 'approve' : 'reset');
  } else if (one.kind === 'relate' || one.kind === 'bulk') {
    const source = choose(
      cards.filter((card) => card.type === 'Application'),
      one.pick,
    );
    const target = choose(
      cards.filter((card) => card.type === 'BusinessCapability'),
      one.other,
    );
    if (!source || !target) return;
    const attributes = { supportType: one.related ? 'leading' : null };
    if (one.kind === 'relate') {
      await createRelation(ctx, {
        type: 'relAppToBC',
        source_id: source.id,
        target_id: target.id,
        attributes,
      });
    } else {
      const row = { type: 'relAppToBC', source: { id: source.id }, target: { id: target.id }, attributes };
      await bulkRelations(
        ctx,
        [
          { ...row, row_index: 1, action: one.other % 3 ? 'upsert' : 'delete' },
          { ...row, row_index: 2, action: 'upsert', description: 'x' },
        ],
        one.pick % 4 === 0,
      );
    }
  } else {
    const relation = choose(relations, one.pick);
    if (!relation) return;
    if (one.kind === 'unrelate') await deleteRelation(ctx, relation.id);
    else await patchRelation(ctx, relation.id, { description: one.related ? 'about' : null });
  }
}

describe('random writes of every kind', () => {
  it('are told by their events in full, and leave data quality and hierarchy as the rules say', async () => {
    let done = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 60, size: 'max' }), async (steps) => {
        for (const one of steps) {
          try {
            await carryOut(one);
            done += 1;
          } catch (error) {
            // refusals are part of it; anything else is a fault
            if (!(error instanceof EstateError) || error.status >= 500) throw error;
          }
        }
        const [told, there] = [await replayed(), await stored()];
        expect(told.cards).toEqual(there.cards);
        expect(told.relations).toEqual(there.relations);
        await command(ctx, async (work) => {
          for (const card of (await loadCards(work, ctx, there.cards.keys())).values()) {
            const type = work.metamodel.cardTypes.get(card.type)!;
            expect(card.data_quality).toBe(dataQuality(type, card, qualityFacts(type, card.filled)));
            const parent = card.parent_id === null ? undefined : there.cards.get(card.parent_id)!;
            if (card.status === 'ACTIVE' && parent) expect(parent.status).toBe('ACTIVE');
            expect(card.archived_at === null).toBe(card.status === 'ACTIVE');
            if (card.type !== 'BusinessCapability') continue;
            const level = card.attributes.capabilityLevel as string;
            const above = parent?.['attributes.capabilityLevel'] as string | undefined;
            if (above === undefined) expect(['Macro', 'L1']).toContain(level);
            else expect(level).toBe(above === 'Macro' ? 'L1' : `L${Number(above.slice(1)) + 1}`);
          }
        });
      }),
      { numRuns: 12, endOnFailure: true },
    );
    // a run in which nearly everything is refused would prove nothing
    expect(done).toBeGreaterThan(200);
    expect((await t.services.db('card_merges').select('id')).length).toBeGreaterThan(1);
  });
});
