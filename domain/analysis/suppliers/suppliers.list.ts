import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { requireFindings, seenCards } from '../runs/analysis.rights.ts';
import { CRITICAL, shareOfCosts } from './suppliers.sql.ts';

/** Names of applications that a row of the list holds. */
const NAMES_SHOWN = 50;

/** Counts and costs of what each supplier supplies, of today, as far as the caller sees it. */
const figures = (ctx: Ctx): string => `suppliers s left join lateral (
    select count(*) filter (where c.type = 'Application')::int as app_count,
      count(*) filter (where c.type = 'ITComponent')::int as itc_count,
      count(*) filter (where c.attributes ->> 'businessCriticality' in ${CRITICAL})::int as critical_app_count,
      count(*) filter (where c.attributes ->> 'businessCriticality' in ${CRITICAL} and k.shared_by = 1)::int
        as sole_critical_app_count,
      round(${may(ctx.caller, 'costs.view') ? `coalesce(sum(${shareOfCosts(ctx)}), 0)` : 'null::numeric'}, 2) as total_cost
    from supplier_cards k join cards c on c.id = k.card_id
    where k.supplier_id = s.id and k.role = 'supplied' and ${seenCards(ctx)}) f on true`;

/** Suppliers of which nothing is left that the caller sees are not shown. */
const seen = (ctx: Ctx): Condition => ({
  sql: `exists (select from supplier_cards k join cards c on c.id = k.card_id
          where k.supplier_id = s.id and ${seenCards(ctx)})`,
  bindings: [],
  visibility: true,
});

const sorts: ListSpec['sorts'] = {
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

/** The order of costs tells of costs. @throws EstateError `forbidden` naming `costs.view`. */
function refuseCostOrder(ctx: Ctx, { sort_by }: ListParams): void {
  if (sort_by === 'total_cost') requirePermission(ctx.caller, 'costs.view');
}

export interface VendorsAsked extends ListParams {
  category?: string;
}

/** Suppliers with what each supplies, and why that is thought. @throws EstateError `forbidden`. */
export async function listVendors(ctx: Ctx, { category, ...params }: VendorsAsked): Promise<JsonText> {
  requireFindings(ctx);
  refuseCostOrder(ctx, params);
  const spec: ListSpec = {
    name: 'vendors',
    from: figures(ctx),
    id: 's.id',
    idType: 'uuid',
    sorts: { ...sorts, vendor_name: byName },
    defaultSort: 'vendor_name',
    defaultDir: 'asc',
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
      app_list: `array(select c.name from supplier_cards k join cards c on c.id = k.card_id
        where k.supplier_id = s.id and k.role = 'supplied' and c.type = 'Application' and ${seenCards(ctx)}
        order by c.name_key, c.id limit ${NAMES_SHOWN})`,
      analysed_at: 'utc(s.categorised_at)',
    },
    search: 'fold(s.canonical_name)',
  };
  const conditions: Condition[] = [{ sql: 's.category is not null', bindings: [] }, seen(ctx)];
  if (category !== undefined) conditions.push({ sql: 's.category = ?', bindings: [category] });
  return await runList(ctx.db, spec, conditions, params, { owner: ctx.caller.userId });
}

export interface HierarchyAsked extends ListParams {
  vendor_type?: string;
  parent_id?: string;
}

/** Suppliers and their products, with who belongs to whom and under which names each goes. @throws EstateError `forbidden`. */
export async function listVendorHierarchy(
  ctx: Ctx,
  { vendor_type, parent_id, ...params }: HierarchyAsked,
): Promise<JsonText> {
  requireFindings(ctx);
  refuseCostOrder(ctx, params);
  const spec: ListSpec = {
    name: 'vendor-hierarchy',
    from: figures(ctx),
    id: 's.id',
    idType: 'uuid',
    sorts: { ...sorts, canonical_name: byName },
    defaultSort: 'canonical_name',
    defaultDir: 'asc',
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
      card_ids: `array(select c.id from supplier_cards k join cards c on c.id = k.card_id
        where k.supplier_id = s.id and k.role = 'provider' and ${seenCards(ctx)} order by c.id)`,
      category: 's.category',
      sub_category: 's.sub_category',
      ...counts,
      confidence: 's.confidence',
      analysed_at: 'utc(s.placed_at)',
    },
    search: `fold(s.canonical_name || ' ' || coalesce((select string_agg(n.name, ' ') from supplier_names n
      where n.supplier_id = s.id), ''))`,
  };
  const conditions: Condition[] = [{ sql: 's.placed_at is not null', bindings: [] }, seen(ctx)];
  if (vendor_type !== undefined) conditions.push({ sql: 's.vendor_type = ?', bindings: [vendor_type] });
  if (parent_id !== undefined) conditions.push({ sql: 's.parent_id = ?', bindings: [parent_id] });
  return await runList(ctx.db, spec, conditions, params, { owner: ctx.caller.userId });
}
