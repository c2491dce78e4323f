import Type from 'typebox';
import { fragment, type Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { forbidden, may } from '../../kernel/permissions/policy.ts';
import type { StaticOf } from '../../kernel/shapes.ts';
import { WebPortal } from './portals.model.ts';

export const portalSorts: Record<string, SortField> = {
  name: { sql: 'lower(p.name)', type: 'text', filled: true },
  slug: { sql: 'p.slug', type: 'text', filled: true },
  created_at: { sql: 'p.created_at', type: 'timestamptz', immutable: true },
  updated_at: { sql: 'p.updated_at', type: 'timestamptz', filled: true },
};
export const portalFilters = {
  is_published: Type.Optional(Type.Boolean({ description: 'Only published ones, or only drafts' })),
  card_type: Type.Optional(Type.String({ maxLength: 100, description: 'Only those about this type' })),
};

const portalList: ListSpec = {
  name: 'web-portals',
  from: 'web_portals p',
  id: 'p.id',
  sorts: portalSorts,
  defaultSort: 'name',
  search: `fold(p.name || ' ' || p.slug)`,
  members: columnMembers('p', WebPortal),
};

/** Users who manage portals see all of them, others with `web_portals.view` the published ones. */
function visiblePortals({ caller }: Ctx): Condition {
  if (may(caller, 'web_portals.manage')) return { sql: 'true', bindings: [], visibility: true };
  if (!may(caller, 'web_portals.view')) throw forbidden('web_portals.manage');
  return { sql: 'p.is_published', bindings: [], visibility: true };
}

/** The portals that are visible to the caller, by name. @throws EstateError `forbidden`. */
export async function listPortals(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof portalFilters>,
): Promise<JsonText> {
  const where = [visiblePortals(ctx)];
  const { is_published, card_type } = params;
  if (is_published !== undefined) where.push(fragment`p.is_published = ${is_published}`);
  if (card_type !== undefined) where.push(fragment`p.card_type = ${card_type}`);
  return await runList(ctx, portalList, where, params);
}

/** One portal. @throws EstateError `forbidden`, `not_found` also if it is not visible to the caller. */
export async function readPortal(ctx: Ctx, id: string): Promise<JsonText> {
  return await readItem(ctx.db, portalList, 'web portal', id, [visiblePortals(ctx)]);
}

/** One portal as its JSON text. @throws EstateError `not_found`. */
export async function portalText(sql: Sql, id: string): Promise<JsonText> {
  return await readItem(sql, portalList, 'web portal', id);
}
