import { embed, fragment } from '../../../platform/database.ts';
import type { Caller, Ctx } from '../context.ts';
import type { Condition } from '../lists/lists.types.ts';
import { hasCostRole, inScope, may } from '../permissions/policy.ts';
import { kindPermissions } from './events.catalogue.ts';

/**
 * A condition over the alias `e` of `events` that selects the events that are visible to the caller in the feed and the
 * stream: the inventory's events of visible card types, and those addressed to the caller if the token has the scope
 * `account`.
 */
export function visibleEvents(ctx: Ctx): Condition {
  const inventory = may(ctx.caller, 'inventory.view');
  const relations = may(ctx.caller, 'relations.view');
  const parts = ["(e.scope = 'user' and e.recipient_id = ?::uuid)"];
  const bindings: unknown[] = [inScope(ctx.caller, 'account') ? ctx.caller.userId : null];
  if (inventory) {
    const hidden = ctx.metamodel.hiddenTypes;
    parts.push(
      `(e.scope = 'inventory'
        ${relations ? '' : 'and e.relation_id is null'}
        ${readableTypes(ctx.caller)}
        and not (coalesce(e.card_type, '') = any(?::text[]))
        and not (coalesce(e.peer_card_type, '') = any(?::text[])))`,
    );
    bindings.push(hidden, hidden);
  }
  return { sql: `(${parts.join(' or ')})`, bindings };
}

/**
 * An SQL expression over the alias `e` of the event's data without values that the caller may not see: cost values are
 * removed unless the caller has `costs.view` or a stakeholder role that shows costs on one of the event's cards.
 */
export function visibleData(ctx: Ctx): Condition {
  if (may(ctx.caller, 'costs.view')) return fragment`e.data`;
  return fragment`case when e.cost_keys is null
    or ${embed(hasCostRole(ctx.caller, 'e.card_id, e.peer_card_id'))}
          then e.data else cut_costs(e.data, e.cost_keys) end`;
}

/** The kinds whose events the caller may not read because a permission is missing. */
const hiddenKinds = (caller: Caller): string[] =>
  [...kindPermissions].flatMap(([kind, permissions]) =>
    permissions.every((permission) => may(caller, permission)) ? [] : [kind],
  );

/** Whether the caller lacks a permission that events of this type need besides the right to view their card. */
export function isHiddenType(caller: Caller, eventType: string): boolean {
  return hiddenKinds(caller).includes(eventType.slice(0, eventType.indexOf('.')));
}

/**
 * {@link hiddenTypes} as an SQL condition over the alias `e` of `events`, with a leading `and`; empty if nothing is
 * hidden.
 */
export function readableTypes(caller: Caller): string {
  const hidden = hiddenKinds(caller);
  if (hidden.length === 0) return '';
  return `and split_part(e.event_type, '.', 1) not in (${hidden.map((kind) => `'${kind}'`).join(', ')})`;
}
