import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { prepared } from '../../../platform/prepared.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.run.ts';
import { projection, textLiteral } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, JsonText, ListSpec } from '../../kernel/lists/lists.types.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { forbidden, hasCostRole, may, userWithinScope } from '../../kernel/permissions/policy.ts';
import { Card } from './cards.model.ts';

/**
 * A condition over the alias `c` of `cards` that selects the cards visible to the caller; every read of cards uses it.
 * With `inventory.view` these are all cards of visible types; without it, the cards on which a stakeholder role of the
 * caller gives `card.view`.
 */
export function visibleCards(ctx: Ctx): Condition {
  const { hiddenTypes } = ctx.metamodel;
  if (may(ctx.caller, 'inventory.view')) {
    return hiddenTypes.length === 0
      ? { sql: 'true', bindings: [], visibility: true }
      : { sql: 'c.type <> all(?::text[])', bindings: [hiddenTypes], visibility: true };
  }
  const types: string[] = [];
  const roles: string[] = [];
  for (const key of ctx.metamodel.visibleTypes) {
    for (const role of ctx.metamodel.cardTypes.get(key)!.stakeholderRoles) {
      if (!role.permissions.has('card.view')) continue;
      types.push(key);
      roles.push(role.key);
    }
  }
  return {
    sql: `exists (select from stakeholders v
            join unnest(?::text[], ?::text[]) as allowed (type, role) on allowed.role = v.role
            where v.card_id = c.id and v.user_id = ?::uuid and allowed.type = c.type)`,
    bindings: [types, roles, userWithinScope(ctx.caller, 'inventory.view')],
    visibility: true,
  };
}

/** The error for a card that {@link visibleCards} does not select. */
export function invisibleCardError(ctx: Ctx, notFound: Error): Error {
  return may(ctx.caller, 'inventory.view') ? notFound : forbidden('inventory.view');
}

/**
 * Refuses cost values from callers who may not see costs; their patches retain the stored values.
 * @throws EstateError `forbidden` naming `costs.view`.
 */
export function refuseHiddenCosts(
  costKeys: readonly string[],
  attributes: Record<string, unknown> | null | undefined,
  seesCosts: boolean,
): void {
  if (seesCosts || !attributes) return;
  if (costKeys.some((key) => Object.hasOwn(attributes, key))) throw forbidden('costs.view');
}

/**
 * The costs of a card as SQL over the alias `c` of `cards`: the sum of all its cost fields, 0 if there are none.
 * @param types the card types that can occur.
 */
export function costsOfCard(metamodel: Metamodel, types: readonly string[]): string {
  const branches = types.flatMap((type) => {
    const keys = metamodel.cardTypes.get(type)?.costKeys ?? [];
    const sum = keys.map((key) => numberOf(textLiteral(key))).join(' + ');
    return sum === '' ? [] : [`when ${textLiteral(type)} then ${sum}`];
  });
  return branches.length === 0 ? '0::numeric' : `(case c.type ${branches.join(' ')} else 0 end)`;
}

const numberOf = (key: string): string =>
  `case when jsonb_typeof(c.attributes -> ${key}) = 'number' then (c.attributes -> ${key})::numeric else 0 end`;

const TAGS = {
  list: `json_agg(json_build_object('id', t.id, 'name', t.name, 'color', t.color, 'group_name', g.name)
           order by lower(g.name), t.sort_order, lower(t.name), t.id)`,
  from: 'card_tags ct join tags t on t.id = ct.tag_id join tag_groups g on g.id = t.tag_group_id',
};

const STAKEHOLDERS = {
  list: `json_agg(json_build_object('id', s.id, 'user_id', s.user_id, 'user_display_name', u.display_name,
           'user_email', u.email, 'role', s.role) order by s.role, lower(u.display_name), s.id)`,
  from: 'stakeholders s join users u on u.id = s.user_id',
};

/** Without `stakeholders.view` callers see only their own roles. */
function visibleStakeholders(ctx: Ctx): Fragment {
  return may(ctx.caller, 'stakeholders.view')
    ? fragment`true`
    : fragment`s.user_id = ${userWithinScope(ctx.caller, 'stakeholders.view')}::uuid`;
}

/**
 * The attributes that the caller may see, over the alias `c`: cost values are omitted unless the caller has
 * `costs.view` or a stakeholder role on the card that shows costs.
 */
export function visibleAttributes(ctx: Ctx): Fragment {
  if (may(ctx.caller, 'costs.view')) return fragment`c.attributes`;
  const costs: Record<string, string[]> = {};
  for (const type of ctx.metamodel.cardTypes.values()) {
    if (type.costKeys.length > 0) costs[type.key] = type.costKeys;
  }
  return fragment`case when ${embed(hasCostRole(ctx.caller, 'c.id'))}
          then c.attributes
          else c.attributes - array(select jsonb_array_elements_text(${JSON.stringify(costs)}::jsonb -> c.type)) end`;
}

/** The members of a card in the order of its JSON. @param seen a condition over the alias `s` of `stakeholders`. */
const membersWith = (attributes: Fragment, seen: Fragment): ListSpec['members'] => ({
  ...columnMembers('c', Card.shown),
  attributes,
  tags: `(select coalesce(${TAGS.list}, '[]') from ${TAGS.from} where ct.card_id = c.id)`,
  stakeholders: fragment`(select coalesce(${embed(STAKEHOLDERS.list)}, '[]')
      from ${embed(STAKEHOLDERS.from)}
             where s.card_id = c.id and ${embed(seen)})`,
});

/** The members of a card that the caller may see, over the alias `c` of `cards`. */
export const cardMembers = (ctx: Ctx): ListSpec['members'] =>
  membersWith(visibleAttributes(ctx), visibleStakeholders(ctx));

/** The members of a card in a list: its path only if `fields` names it. */
export const listedMembers = (ctx: Ctx, fields: string | undefined): ListSpec['members'] => ({
  ...cardMembers(ctx),
  ...(fields === undefined ? {} : { path: ancestorPath(ctx) }),
});

/** The visible ancestors of the card `c`, the root first. */
const ancestorPath = (ctx: Ctx): Fragment => fragment`(with recursive up as (
    select p.id, p.parent_id, 1 as n from cards p where p.id = c.parent_id
    union all
    select p.id, p.parent_id, up.n + 1 from up join cards p on p.id = up.parent_id
  ) select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name) order by up.n desc), '[]')
    from up join cards c on c.id = up.id where ${embed(visibleCards(ctx))})`;

/** A card as callers with `costs.view` and `stakeholders.view` see it. */
const wholeCard = projection(membersWith(fragment`c.attributes`, fragment`true`));

/** A card as the caller sees it; single cards are read so often that the usual text is built only once. */
function visibleCard(ctx: Ctx): Fragment {
  const seesAll = may(ctx.caller, 'costs.view') && may(ctx.caller, 'stakeholders.view');
  return seesAll ? wholeCard : projection(cardMembers(ctx));
}

/** Tags and stakeholders are aggregated once for all cards, which takes half the time of aggregating them for each card. */
function cardsQuery(ctx: Ctx, ids: string[], fields: string | undefined): Fragment {
  const members: ListSpec['members'] = {
    ...listedMembers(ctx, fields),
    tags: "coalesce(tags_of.list, '[]')",
    stakeholders: "coalesce(stakeholders_of.list, '[]')",
  };
  const item = projection(members, fields);
  const names = fields === undefined ? Object.keys(members) : fields.split(',').map((name) => name.trim());
  const tags = fragment`left join (select ct.card_id, ${embed(TAGS.list)} as list from ${embed(TAGS.from)}
              where ct.card_id = any(array(select id from page)) group by ct.card_id) tags_of
            on tags_of.card_id = c.id`;
  const stakeholders = fragment`left join (select s.card_id, ${embed(STAKEHOLDERS.list)} as list
      from ${embed(STAKEHOLDERS.from)}
              where s.card_id = any(array(select id from page)) and ${embed(visibleStakeholders(ctx))}
              group by s.card_id) stakeholders_of
            on stakeholders_of.card_id = c.id`;
  return fragment`with page as materialized (select p.id, p.n
        from unnest(${ids}::uuid[]) with ordinality as p (id, n))
      select '[' || coalesce(string_agg(${embed(item)}::text, ',' order by page.n), '') || ']' as items
      from page join cards c on c.id = page.id ${embed(names.includes('tags') ? tags : '')}
      ${embed(names.includes('stakeholders') ? stakeholders : '')}`;
}

/**
 * Cards by id as the text of a JSON array in the order of the ids; ids that no longer exist are skipped. Rights on the
 * cards must have been checked.
 */
export async function cardsText(
  sql: Sql,
  ctx: Ctx,
  ids: string[],
  fields: string | undefined,
): Promise<string> {
  const cards = cardsQuery(ctx, ids, fields);
  // `fields` can be any list in any order, so queries with it are not prepared.
  if (fields !== undefined) return await query(sql).value<string>`${embed(cards)}`;
  const { rows } = await prepared(sql, cards.sql, cards.bindings);
  return rows[0].items;
}

/**
 * One card as its JSON text, from which its ETag is computed. `sql` may be a command's transaction; `forUpdate` locks
 * the row.
 * @throws EstateError `not_found` for a card that does not exist or is hidden, `forbidden` without the right to see it.
 */
export async function cardText(
  sql: Sql,
  ctx: Ctx,
  id: string,
  { forUpdate = false }: { forUpdate?: boolean } = {},
): Promise<JsonText> {
  const card = fragment`select ${embed(visibleCard(ctx))}::text as item from cards c
    where c.id = ${id}::uuid and (${embed(visibleCards(ctx))})${embed(forUpdate ? ' for update of c' : '')}`;
  const { rows } = await prepared(sql, card.sql, card.bindings);
  if (!rows[0]) throw invisibleCardError(ctx, notFound('card', id));
  return rows[0].item;
}
