import type { Sql } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import { may } from '../access/policy.ts';
import type { Ctx } from '../context.ts';
import { projection } from '../lists/lists.sql.ts';
import type { Fragment, JsonText, ListSpec } from '../lists/lists.types.ts';
import { unseenCard, visibleCards } from './cards.visible.ts';

const TAGS = `(select coalesce(json_agg(json_build_object('id', t.id, 'name', t.name, 'color', t.color,
    'group_name', g.name) order by lower(g.name), t.sort_order, lower(t.name), t.id), '[]')
  from card_tags ct join tags t on t.id = ct.tag_id join tag_groups g on g.id = t.tag_group_id
  where ct.card_id = c.id)`;

/** Without `stakeholders.view` a caller sees the own roles only. */
function stakeholders(ctx: Ctx): Fragment {
  const all = may(ctx.caller, 'stakeholders.view');
  return {
    sql: `(select coalesce(json_agg(json_build_object('id', s.id, 'user_id', s.user_id,
        'user_display_name', u.display_name, 'user_email', u.email, 'role', s.role)
        order by s.role, lower(u.display_name), s.id), '[]')
      from stakeholders s join users u on u.id = s.user_id
      where s.card_id = c.id${all ? '' : ' and s.user_id = ?::uuid'})`,
    bindings: all ? [] : [ctx.caller.userId],
  };
}

/**
 * The attributes that the caller may see, over the alias `c`: cost values are left out unless the caller holds
 * `costs.view` or any stakeholder role on the card.
 */
export function visibleAttributes(ctx: Ctx): Fragment {
  if (may(ctx.caller, 'costs.view')) return { sql: 'c.attributes', bindings: [] };
  const costs: Record<string, string[]> = {};
  for (const type of ctx.metamodel.cardTypes.values()) {
    if (type.costKeys.length > 0) costs[type.key] = type.costKeys;
  }
  return {
    sql: `case when exists (select from stakeholders r where r.card_id = c.id and r.user_id = ?::uuid)
          then c.attributes
          else c.attributes - array(select jsonb_array_elements_text(?::jsonb -> c.type)) end`,
    bindings: [ctx.caller.userId, JSON.stringify(costs)],
  };
}

/** The members of a card in the order of its JSON, over the alias `c` of `cards`. */
export function cardMembers(ctx: Ctx): ListSpec['members'] {
  return {
    id: 'c.id',
    type: 'c.type',
    subtype: 'c.subtype',
    name: 'c.name',
    description: 'c.description',
    parent_id: 'c.parent_id',
    lifecycle: 'c.lifecycle',
    attributes: visibleAttributes(ctx),
    status: 'c.status',
    approval_status: 'c.approval_status',
    data_quality: 'c.data_quality',
    external_id: 'c.external_id',
    alias: 'c.alias',
    archived_at: 'utc(c.archived_at)',
    created_by: 'c.created_by',
    updated_by: 'c.updated_by',
    created_at: 'utc(c.created_at)',
    updated_at: 'utc(c.updated_at)',
    tags: TAGS,
    stakeholders: stakeholders(ctx),
  };
}

/**
 * One card as its JSON text, the very text that its ETag is made of. `sql` may be a command's transaction;
 * `forUpdate` locks the row.
 * @throws EstateError `not_found` for a card that does not exist or is hidden, `forbidden` without the right to see it.
 */
export async function cardText(
  sql: Sql,
  ctx: Ctx,
  id: string,
  options: { forUpdate?: boolean } = {},
): Promise<JsonText> {
  const visible = visibleCards(ctx);
  const item = projection(cardMembers(ctx), undefined);
  const { rows } = await sql.raw(
    `select ${item.sql}::text as item from cards c
     where c.id = ?::uuid and (${visible.sql})${options.forUpdate ? ' for update of c' : ''}`,
    [...item.bindings, id, ...visible.bindings] as never,
  );
  if (!rows[0]) throw unseenCard(ctx, notFound('card', id));
  return rows[0].item;
}
