import Type from 'typebox';
import type { Ctx } from '../../kernel/context.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import type { Condition, ListParams, SortField } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { FilledText, Uuid } from '../../kernel/shapes.ts';
import {
  requireFindings,
  type StartedRun,
  startAnalysis,
  vendorHierarchyJob,
  vendorsJob,
  visibleCardsSql,
} from '../runs/runs.ts';
import { Supplier } from './suppliers.model.ts';
import { CRITICAL, shareOfCosts } from './suppliers.read.ts';

/** The maximum number of application names in a row. */
const NAMES_SHOWN = 50;

/** Current counts and costs of the supplied cards of each supplier, as far as they are visible to the caller. */
const figures = (ctx: Ctx): string => `suppliers s left join lateral (
    select count(*) filter (where c.type = 'Application')::int as app_count,
      count(*) filter (where c.type = 'ITComponent')::int as itc_count,
      count(*) filter (where c.attributes ->> 'businessCriticality' in ${CRITICAL})::int as critical_app_count,
      count(*) filter (where c.attributes ->> 'businessCriticality' in ${CRITICAL} and k.shared_by = 1)::int
        as sole_critical_app_count,
      round(${may(ctx.caller, 'costs.view') ? `coalesce(sum(${shareOfCosts(ctx)}), 0)` : 'null::numeric'}, 2) as total_cost
    from supplier_cards k join cards c on c.id = k.card_id
    where k.supplier_id = s.id and k.role = 'supplied' and ${visibleCardsSql(ctx)}) f on true`;

/** Suppliers with at least one visible card. */
const visibleSuppliers = (ctx: Ctx): Condition => ({
  sql: `exists (select from supplier_cards k join cards c on c.id = k.card_id
          where k.supplier_id = s.id and ${visibleCardsSql(ctx)})`,
  bindings: [],
  visibility: true,
});

const sorts: Record<string, SortField> = {
  app_count: { sql: 'f.app_count', type: 'bigint', filled: true },
  itc_count: { sql: 'f.itc_count', type: 'bigint', filled: true },
  critical_app_count: { sql: 'f.critical_app_count', type: 'bigint', filled: true },
  total_cost: { sql: 'f.total_cost', type: 'numeric' },
  category: { sql: 's.category', type: 'text' },
};
const byName = { sql: 'fold(s.canonical_name)', type: 'text', filled: true } as const;
const counts = {
  app_count: 'f.app_count',
  itc_count: 'f.itc_count',
  total_cost: 'f.total_cost',
};

/** What the lists of suppliers have in common. @param condition SQL of the listed ones. */
const listed = (condition: string) => ({
  from: figures,
  id: 's.id',
  where(ctx: Ctx, params: ListParams) {
    requireFindings(ctx);
    // the order by costs would reveal them
    if (params.sort_by === 'total_cost') requirePermission(ctx.caller, 'costs.view');
    return [{ sql: condition, bindings: [] }, visibleSuppliers(ctx)];
  },
});

/** Suppliers with their categories, and the reasons for these. */
export const vendorList = defineList({
  name: 'vendors',
  ...listed('s.category is not null'),
  sorts: { vendor_name: byName, ...sorts },
  defaultSort: 'vendor_name',
  members: {
    id: 's.id',
    vendor_name: 's.canonical_name',
    category: 's.category',
    sub_category: 's.sub_category',
    confidence: 's.category_confidence',
    reasoning: 's.reasoning',
    ...counts,
    critical_app_count: 'f.critical_app_count',
    sole_critical_app_count: 'f.sole_critical_app_count',
    app_list: (ctx) => `array(select c.name from supplier_cards k join cards c on c.id = k.card_id
        where k.supplier_id = s.id and k.role = 'supplied' and c.type = 'Application' and ${visibleCardsSql(ctx)}
        order by c.name_key, c.id limit ${NAMES_SHOWN})`,
    analysed_at: 'utc(s.categorised_at)',
  },
  search: 'fold(s.canonical_name)',
  filters: {
    category: [FilledText(100, 'Only this category'), 's.category = ?'],
  },
});

/** Suppliers and their products, with their hierarchy and names. */
export const vendorHierarchyList = defineList({
  name: 'vendor-hierarchy',
  ...listed('s.placed_at is not null'),
  sorts: { canonical_name: byName, ...sorts },
  defaultSort: 'canonical_name',
  members: {
    id: 's.id',
    canonical_name: 's.canonical_name',
    vendor_type: 's.vendor_type',
    parent_id: 's.parent_id',
    parent_reason: 's.parent_reason',
    group_name: 's.group_name',
    aliases: `array(select n.name from supplier_names n where n.supplier_id = s.id and n.name <> s.canonical_name
        order by n.confidence desc, n.name)`,
    alias_reasons: `coalesce((select json_agg(json_build_object('name', n.name, 'confidence', n.confidence,
        'reason', n.reason) order by n.confidence desc, n.name) from supplier_names n
        where n.supplier_id = s.id and n.name <> s.canonical_name), '[]')`,
    card_ids: (ctx) => `array(select c.id from supplier_cards k join cards c on c.id = k.card_id
        where k.supplier_id = s.id and k.role = 'provider' and ${visibleCardsSql(ctx)} order by c.id)`,
    category: 's.category',
    sub_category: 's.sub_category',
    ...counts,
    confidence: 's.confidence',
    analysed_at: 'utc(s.placed_at)',
  },
  search: `fold(s.canonical_name || ' ' || coalesce((select string_agg(n.name, ' ') from supplier_names n
      where n.supplier_id = s.id), ''))`,
  filters: {
    vendor_type: [Supplier.columns.vendor_type, 's.vendor_type = ?'],
    parent_id: [
      Type.String({ ...Uuid, description: 'Only suppliers that belong to this one, and its products' }),
      's.parent_id = ?::uuid',
    ],
  },
});

/** Starts a run that identifies suppliers and their categories. @throws EstateError `forbidden`, `wrong_state`. */
export const startVendors = (ctx: Ctx, dryRun = false): Promise<StartedRun> =>
  startAnalysis(ctx, { type: 'vendors', job: vendorsJob, dryRun });

/**
 * Starts a run that identifies the hierarchy of suppliers and their products.
 * @throws EstateError `forbidden`, `wrong_state`.
 */
export const startVendorHierarchy = (ctx: Ctx, dryRun = false): Promise<StartedRun> =>
  startAnalysis(ctx, { type: 'vendor_hierarchy', job: vendorHierarchyJob, dryRun });
