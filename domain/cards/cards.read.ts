import { invalidFields } from '../../platform/errors.ts';
import { requirePermission } from '../access/policy.ts';
import type { Ctx } from '../context.ts';
import { count } from '../lists/lists.run.ts';
import { clause, projection } from '../lists/lists.sql.ts';
import type { Condition, JsonText, ListParams } from '../lists/lists.types.ts';
import { cardMembers, cardText } from './cards.projection.ts';
import { visibleCards } from './cards.visible.ts';

/** One card with tags and stakeholders. @throws EstateError `not_found`, `forbidden`. */
export async function readCard(ctx: Ctx, id: string): Promise<JsonText> {
  return await cardText(ctx.db, ctx, id);
}

/**
 * The active and archived cards on which a user, the caller unless named, holds a stakeholder role, by name,
 * with the roles of each.
 * @throws EstateError `forbidden` without `stakeholders.view`.
 */
export async function listStakeholderCards(
  ctx: Ctx,
  params: Pick<ListParams, 'page' | 'page_size'> & { user_id?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'stakeholders.view');
  const userId = params.user_id ?? ctx.caller.userId;
  if (userId === null) throw invalidFields([{ field: 'user_id', code: 'required', message: 'is required' }]);
  const where: Condition[] = [
    visibleCards(ctx),
    { sql: 'c.id in (select m.card_id from stakeholders m where m.user_id = ?::uuid)', bindings: [userId] },
  ];
  const w = clause(where);
  const item = projection(cardMembers(ctx), undefined);
  const total = await count({ sql: ctx.db, spec: { from: 'cards c' } as never, where });
  const { rows } = await ctx.db.raw(
    `select c.id, c.type, ${item.sql}::text as item,
            array(select m.role from stakeholders m where m.card_id = c.id and m.user_id = ?::uuid order by m.role) as roles
     from cards c${w.sql} order by c.name_key, c.id limit ? offset ?`,
    [
      ...item.bindings,
      userId,
      ...w.bindings,
      params.page_size,
      (params.page - 1) * params.page_size,
    ] as never,
  );
  const roles: Record<string, unknown[]> = {};
  for (const row of rows as { id: string; type: string; roles: string[] }[]) {
    const known = ctx.metamodel.cardTypes.get(row.type)?.stakeholderRoles ?? [];
    roles[row.id] = known
      .filter((role) => row.roles.includes(role.key))
      .map(({ key, label, color, translations }) => ({ key, label, color, translations }));
  }
  const items = rows.map((row: { item: string }) => row.item).join(',');
  return `{"items":[${items}],"roles_by_card_id":${JSON.stringify(roles)},"total":${total},"page":${params.page},"page_size":${params.page_size}}`;
}
