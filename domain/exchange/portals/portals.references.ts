import { fragment } from '../../../platform/database.ts';
import { References } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { may } from '../../kernel/permissions/policy.ts';
import type { PortalRow } from './portals.model.ts';

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
  references({ card_type, filters, display_fields, card_config }, metamodel) {
    const found = new References(metamodel);
    const scope = [card_type];
    found.type(card_type);
    for (const key of filters.subtypes ?? []) found.subtype(key, scope);
    found.filter(filters.filter, scope);
    for (const entry of [...display_fields, card_config.sort_by ?? '', ...(card_config.short_fields ?? [])]) {
      if (entry.startsWith('relations.')) found.relationType(entry.slice('relations.'.length));
      else found.path(entry, scope);
    }
    return found.all;
  },
});
