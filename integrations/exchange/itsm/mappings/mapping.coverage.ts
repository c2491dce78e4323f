import Type, { type Static } from 'typebox';
import { VIEW_SYNC } from '../../../../domain/exchange/itsm/connections.queries.ts';
import { loadStoredMapping } from '../../../../domain/exchange/itsm/itsm.load.ts';
import { findCardField } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { visibleCards } from '../../../../domain/inventory/cards/cards.projection.ts';
import { survivingCard } from '../../../../domain/inventory/cards/merge/merge.redirect.ts';
import { prepareFilter } from '../../../../domain/inventory/filters/filters.prepare.ts';
import { type Ctx, systemCaller } from '../../../../domain/kernel/context.ts';
import type { CardType } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import { lifecyclePhases } from '../../../../domain/kernel/metamodel/metamodel.types.ts';
import { requirePermission } from '../../../../domain/kernel/permissions/policy.ts';
import { component, Nullable, object } from '../../../../domain/kernel/shapes.ts';

const Paths = object({ mapped: Type.Array(Type.String()), unmapped: Type.Array(Type.String()) });
const count = Type.Integer({ minimum: 0 });

/** How much of both sides a mapping covers. */
export const MappingCoverage = component('ItsmMappingCoverage', {
  fields: Paths,
  columns: Nullable(Paths),
  cards: object({ total: count, in_filter: count, paired: count }),
  records: object({
    read: Nullable(Type.Integer({ description: 'Records of the last full read' })),
    paired: count,
    outside: Nullable(Type.Integer({ description: 'Records without a card' })),
  }),
  pairs: object({ linked: count, quarantined: count, ended: count, unmapped: count, removed: count }),
  questions: object({ conflict: count, match: count }),
});
export type MappingCoverage = Static<typeof MappingCoverage>;

/**
 * Counts what a mapping covers, without calling the remote.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function readCoverage(ctx: Ctx, id: string): Promise<MappingCoverage> {
  requirePermission(ctx.caller, VIEW_SYNC);
  const row = await loadStoredMapping(ctx.db, id);
  const counts = await countAll(ctx, row);
  const type = ctx.metamodel.cardTypes.get(row.card_type_key);
  const mapped = row.fields.map(({ card_field }) => card_field);
  const defaults = row.record_defaults;
  const used = new Set([...row.fields.map(({ remote_field }) => remote_field), ...Object.keys(defaults)]);
  const { pairs, questions, read } = counts;
  const live = pairs.linked + pairs.quarantined;
  return {
    fields: { mapped, unmapped: type ? pathsOf(type).filter((path) => !mapped.includes(path)) : [] },
    columns: row.dictionary && {
      mapped: row.dictionary.map(({ name }) => name).filter((name) => used.has(name)),
      unmapped: row.dictionary.map(({ name }) => name).filter((name) => !used.has(name)),
    },
    cards: counts.cards,
    records: { read, paired: live, outside: read === null ? null : Math.max(0, read - live) },
    pairs,
    questions,
  };
}

function pathsOf(type: CardType): string[] {
  const paths = [
    ...['name', 'alias', 'description', 'external_id', 'subtype', 'parent_id'],
    ...lifecyclePhases.map((phase) => `lifecycle.${phase}`),
    ...[...type.fields.keys()].map((key) => `attributes.${key}`),
  ];
  return paths.filter((path) => findCardField(type, path) !== undefined);
}

async function countAll(ctx: Ctx, row: Mapping) {
  const { db } = ctx;
  const byState = await db('itsm_pairs')
    .where({ mapping_id: row.id })
    .groupBy('state')
    .select('state', db.raw('count(*) as count'));
  const byKind = await db('itsm_review_items')
    .where({ mapping_id: row.id })
    .groupBy('kind')
    .select('kind', db.raw('count(*) as count'));
  const last = await db('itsm_runs')
    .where({ mapping_id: row.id, complete: true })
    .whereNotNull('plan_made_at')
    .orderBy('id', 'desc')
    .first(db.raw(`(stats ->> 'fetched')::int as fetched`));
  const pairs = { linked: 0, quarantined: 0, ended: 0, unmapped: 0, removed: 0 };
  for (const { state, count } of byState) pairs[state as keyof typeof pairs] = count;
  const questions = { conflict: 0, match: 0 };
  for (const { kind, count } of byKind) questions[kind as keyof typeof questions] = count;
  const read = (last?.fetched ?? null) as number | null;
  return { pairs, questions, read, cards: await countCards(ctx, row) };
}

async function countCards(ctx: Ctx, row: Mapping): Promise<MappingCoverage['cards']> {
  // only numbers are returned, so the filter may use fields that the caller may not see
  const asService = { ...ctx, caller: systemCaller };
  const filter = (await prepareFilter(asService, row.card_filter ?? '')) ?? { sql: 'true', bindings: [] };
  const visible = visibleCards(ctx);
  const { rows } = await ctx.db.raw(
    `select count(*) as total, count(*) filter (where fits) as in_filter,
       count(*) filter (where fits and found.id in (select ${survivingCard('p.card_id')} from itsm_pairs p
         where p.mapping_id = ? and p.state in ('linked', 'quarantined'))) as paired
     from (select c.id, coalesce((${filter.sql}), false) as fits from cards c
       where c.type = ? and c.status = 'ACTIVE' and (${visible.sql})) found`,
    [row.id, ...filter.bindings, row.card_type_key, ...visible.bindings],
  );
  return rows[0];
}
