import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText } from '../../kernel/lists/lists.types.ts';
import { forbidden, may } from '../../kernel/permissions/policy.ts';
import { BooleanOf, TextUpTo } from '../../kernel/shapes.ts';
import { WebPortal } from './portals.model.ts';

/** The portals that are visible to the caller, by name. */
export const portalList = defineList({
  name: 'web-portals',
  from: 'web_portals p',
  id: 'p.id',
  sorts: {
    name: { sql: 'lower(p.name)', type: 'text', filled: true },
    slug: { sql: 'p.slug', type: 'text', filled: true },
    created_at: { sql: 'p.created_at', type: 'timestamptz', immutable: true },
    updated_at: { sql: 'p.updated_at', type: 'timestamptz', filled: true },
  },
  defaultSort: 'name',
  filters: {
    is_published: [BooleanOf('Only published ones, or only drafts'), 'p.is_published = ?'],
    card_type: [TextUpTo(100, 'Only those about this type'), 'p.card_type = ?'],
  },
  search: `fold(p.name || ' ' || p.slug)`,
  members: columnMembers('p', WebPortal),
  visible: (ctx) => [visiblePortals(ctx)],
});

/** Users who manage portals see all of them, others with `web_portals.view` the published ones. */
function visiblePortals({ caller }: Ctx): Condition {
  if (may(caller, 'web_portals.manage')) return { sql: 'true', bindings: [], visibility: true };
  if (!may(caller, 'web_portals.view')) throw forbidden('web_portals.manage');
  return { sql: 'p.is_published', bindings: [], visibility: true };
}

/** One portal as its JSON text. @throws EstateError `not_found`. */
export async function portalText(sql: Sql, id: string): Promise<JsonText> {
  return await readItem(sql, portalList, 'web portal', id);
}
