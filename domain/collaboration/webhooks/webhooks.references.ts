import { fragment } from '../../../platform/database.ts';
import { References } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { WEBHOOKS } from './webhooks.commands.ts';

/** Webhooks that are limited to card types. */
export const webhookConsumers = defineConsumers<string[] | null>({
  tables: ['webhooks'],
  rows: (
    ctx,
  ) => fragment`select w.id::text, 'webhook' as kind, w.name, w.owner_id, w.last_delivered_at as last_used_at,
      '/api/v1/webhooks/' || w.id as link, ${may(ctx.caller, WEBHOOKS)}::boolean as is_visible, to_jsonb(w.card_types) as content
    from webhooks w where w.card_types is not null`,
  references(types, metamodel) {
    const found = new References(metamodel);
    found.type(...(types ?? []));
    return found.all;
  },
});
