import { embed, query, type Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { requireGrantable } from '../../kernel/permissions/grants.ts';
import {
  type CardForPolicy,
  forbidden,
  hasCostRoleSql,
  may,
  mayOnCard,
  requirePermission,
  userWithinScope,
} from '../../kernel/permissions/policy.ts';
import type { SettingKey } from '../../kernel/settings/settings.defaults.ts';
import type { RequiredRight, UndoRight } from '../../kernel/undo/undo.types.ts';
import { undoRights as declaredRights } from '../resources.ts';
import { settingPermission } from '../settings/settings.change.ts';
import { requireReach } from '../settings/settings.reach.ts';
import { FOLLOWS } from './batches.conflicts.ts';
import { ignoredEvents, refusalOf, undoMethodOf } from './undo.refused.ts';
import { undoRights } from './undo.rights.data.ts';

/** The rights that undoing events of this type needs; undefined if nothing is undone. */
export function undoRightOf(type: EventType): UndoRight | undefined {
  if (ignoredEvents.includes(type) || !undoMethodOf(type)) return undefined;
  const right = declaredRights[type] ?? undoRights[type] ?? undoRights[type.split('.')[0]!];
  if (!right) throw new Error(`No right is declared for undoing ${type}.`);
  return right;
}

/**
 * Checks that the caller may undo a batch, or preview that: with `admin.rollback`, and with the permissions that the
 * writes of the batch needed, for each card if a stakeholder role can grant them. Derived values need none. Events that
 * cannot be undone are only named to callers who may read batches, with `admin.events`.
 * @throws EstateError `forbidden` naming the first missing permission.
 */
export async function requireUndoRights(ctx: Ctx, sql: Sql, batchId: string): Promise<void> {
  requirePermission(ctx.caller, 'admin.rollback');
  if (ctx.caller.permissions === '*') return;
  const rows = await query(sql).rows`select distinct e.event_type,
    e.user_id is not distinct from ${ctx.caller.userId}::uuid as own
     from events e where e.batch_id = ${batchId}::uuid and not ${embed(FOLLOWS)}`;
  for (const { event_type, own } of rows as { event_type: EventType; own: boolean }[]) {
    if (refusalOf(event_type)) requirePermission(ctx.caller, 'admin.events');
    const right = undoRightOf(event_type);
    if (!right) continue;
    const wanted = own ? right.needs : (right.others ?? right.needs);
    if (wanted === 'everything') requireGrantable(ctx.caller, { '*': true });
    else for (const need of wanted) await requireNeed(ctx, sql, { batchId, event_type, own }, need);
  }
  await requireSeenCosts(ctx, sql, batchId);
  await requireSettings(ctx, sql, batchId);
}

interface Written {
  batchId: string;
  event_type: EventType;
  own: boolean;
}

async function requireNeed(ctx: Ctx, sql: Sql, written: Written, need: RequiredRight): Promise<void> {
  if (typeof need === 'string') {
    requirePermission(ctx.caller, need);
    return;
  }
  if (may(ctx.caller, need.app)) return;
  for (const cards of await cardsOf(ctx, sql, written)) {
    if (!cards.some((card) => mayOnCard(ctx, need, card))) throw forbidden(need.app);
  }
}

/** The cards of each event with the caller's roles on them; a relation has two, and a role on one of them suffices. */
async function cardsOf(
  ctx: Ctx,
  sql: Sql,
  { batchId, event_type, own }: Written,
): Promise<CardForPolicy[][]> {
  const roles = (id: string) =>
    `array(select s.role from stakeholders s where s.card_id = ${id} and s.user_id = ?::uuid)`;
  const { rows } = await sql.raw(
    `select distinct e.card_id, e.card_type, e.peer_card_id, e.peer_card_type,
       ${roles('e.card_id')} as roles, ${roles('e.peer_card_id')} as peer_roles
     from events e where e.batch_id = ?::uuid and e.event_type = ? and (e.user_id is not distinct from ?::uuid) = ?
       and not ${FOLLOWS}`,
    [ctx.caller.userId, ctx.caller.userId, batchId, event_type, ctx.caller.userId, own],
  );
  return rows.map((row: Record<string, never>) => [
    { id: row.card_id, type: row.card_type, myRoles: row.roles },
    ...(event_type.startsWith('relation.')
      ? [{ id: row.peer_card_id, type: row.peer_card_type, myRoles: row.peer_roles }]
      : []),
  ]);
}

/** Costs, and roles that show them, can only be written by users who see the costs of the card. */
async function requireSeenCosts(ctx: Ctx, sql: Sql, batchId: string): Promise<void> {
  if (may(ctx.caller, 'costs.view')) return;
  const { rows } = await sql.raw(
    `select exists (select from events e where e.batch_id = ?::uuid
       and (cardinality(e.cost_keys) > 0 or starts_with(e.event_type, 'stakeholder.')
            or (e.event_type = 'attachment.moved' and e.data ->> 'entity' = 'stakeholder'))
       and not ${hasCostRoleSql('e.card_id, e.peer_card_id')}) as hidden`,
    [batchId, userWithinScope(ctx.caller, 'costs.view')],
  );
  if (rows[0].hidden) throw forbidden('costs.view');
}

type Changes = Record<string, { old: unknown }>;

async function requireSettings(ctx: Ctx, sql: Sql, batchId: string): Promise<void> {
  const rows = await query(sql).rows`select data ->> 'id' as key, data -> 'changes' as changes from events
     where batch_id = ${batchId}::uuid and event_type = 'settings.updated'`;
  for (const { key, changes } of rows as { key: SettingKey; changes: Changes }[]) {
    requirePermission(ctx.caller, settingPermission(key));
    const restored = changes.role?.old;
    const role = typeof restored === 'string' ? restored : undefined;
    await requireReach(ctx, sql, key, Object.keys(changes), role);
  }
}
