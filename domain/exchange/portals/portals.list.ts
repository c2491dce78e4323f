import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { itemText } from '../../collaboration/items.ts';
import type { Ctx } from '../../kernel/context.ts';
import { itemsOf, runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { forbidden, may } from '../../kernel/permissions/policy.ts';

const portalList: ListSpec = {
  name: 'web-portals',
  from: 'web_portals p',
  id: 'p.id',
  idType: 'uuid',
  sorts: {
    name: { sql: 'lower(p.name)', type: 'text', filled: true },
    slug: { sql: 'p.slug', type: 'text', filled: true },
    created_at: { sql: 'p.created_at', type: 'timestamptz', immutable: true },
    updated_at: { sql: 'p.updated_at', type: 'timestamptz', filled: true },
  },
  defaultSort: 'name',
  defaultDir: 'asc',
  search: `fold(p.name || ' ' || p.slug)`,
  members: {
    id: 'p.id',
    name: 'p.name',
    slug: 'p.slug',
    description: 'p.description',
    card_type: 'p.card_type',
    filters: 'p.filters',
    display_fields: 'p.display_fields',
    card_config: 'p.card_config',
    is_published: 'p.is_published',
    created_by: 'p.created_by',
    created_at: 'utc(p.created_at)',
    updated_at: 'utc(p.updated_at)',
  },
};

/** Whoever manages portals sees all of them, others with `web_portals.view` those that are published. */
function visiblePortals({ caller }: Ctx): Condition {
  if (may(caller, 'web_portals.manage')) return { sql: 'true', bindings: [], visibility: true };
  if (!may(caller, 'web_portals.view')) throw forbidden('web_portals.manage');
  return { sql: 'p.is_published', bindings: [], visibility: true };
}

/** The portals that the caller sees, by name. @throws EstateError `forbidden`. */
export async function listPortals(
  ctx: Ctx,
  params: ListParams & { is_published?: boolean; card_type?: string },
): Promise<JsonText> {
  const where = [visiblePortals(ctx)];
  const { is_published, card_type } = params;
  if (is_published !== undefined) where.push({ sql: 'p.is_published = ?', bindings: [is_published] });
  if (card_type !== undefined) where.push({ sql: 'p.card_type = ?', bindings: [card_type] });
  return await runList(ctx.db, portalList, where, params, { owner: ctx.caller.userId });
}

/** One portal. @throws EstateError `forbidden`, `not_found` also where the caller does not see it. */
export async function readPortal(ctx: Ctx, id: string): Promise<JsonText> {
  const list = { sql: ctx.db, spec: portalList, where: [visiblePortals(ctx)] };
  const item = projection(portalList.members, undefined);
  const [text] = await itemsOf({ ...list, item }, [id.toLowerCase()]);
  if (text === undefined) throw notFound('web portal', id);
  return text;
}

/** One portal as its JSON text. @throws EstateError `not_found`. */
export async function portalText(sql: Sql, id: string): Promise<JsonText> {
  const text = await itemText(sql, portalList, id);
  if (text === undefined) throw notFound('web portal', id);
  return text;
}
