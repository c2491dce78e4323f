import { fragment } from '../../../platform/database.ts';
import { References } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { emitPortal } from './portals.commands.ts';
import { type PortalRow, WebPortal } from './portals.model.ts';

/** Web portals. */
export const portalConsumers = defineConsumers<
  Pick<PortalRow, 'card_type' | 'filters' | 'display_fields' | 'card_config'>
>({
  tables: ['web_portals'],
  rows: ({ caller }) => fragment`select p.id::text, 'portal' as kind, p.name, p.created_by as owner_id,
      null::timestamptz as last_used_at, '/api/v1/web-portals/' || p.id as link,
      ${may(caller, 'web_portals.manage')}::boolean or (${may(caller, 'web_portals.view')}::boolean and p.is_published) as is_visible,
      jsonb_build_object('card_type', p.card_type, 'filters', p.filters, 'display_fields', p.display_fields,
        'card_config', p.card_config) as content
    from web_portals p`,
  references(content, metamodel) {
    const { card_type, filters, display_fields, card_config } = content;
    const found = new References(metamodel);
    const scope = [card_type];
    found.type(card_type);
    for (const key of filters.subtypes ?? []) found.subtype(key, scope);
    if (filters.filter) filters.filter = found.filter(filters.filter, scope);
    const read = (entry: string): string => {
      if (!entry.startsWith('relations.')) return found.path(entry, scope);
      found.relationType(entry.slice('relations.'.length));
      return entry;
    };
    content.display_fields = display_fields.map(read);
    if (card_config.sort_by) card_config.sort_by = read(card_config.sort_by);
    if (card_config.short_fields) card_config.short_fields = card_config.short_fields.map(read);
    return found.all;
  },
  async write(work, id, { filters, display_fields, card_config }) {
    const row = await lockRow(work.sql, WebPortal, { id });
    if (!row) return;
    const values = { filters, display_fields, card_config };
    emitPortal(work, row, await updateRow(work.sql, WebPortal, { id }, values));
  },
});
