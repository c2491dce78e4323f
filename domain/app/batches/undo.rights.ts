import { embed, query, type Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { requireGrantable } from '../../kernel/permissions/grants.ts';
import {
  type CardForPolicy,
  forbidden,
  hasCostRole,
  may,
  mayOnCard,
  requirePermission,
} from '../../kernel/permissions/policy.ts';
import type { SettingKey } from '../../kernel/settings/settings.read.ts';
import type { RequiredRight, UndoRight, UndoSpec } from '../../kernel/undo/undo.types.ts';
import { undoRights as declaredRights, undoRefusals, undoSpecs } from '../resources.ts';
import { requireReach, settingPermission } from '../settings/settings.change.ts';
import { FOLLOWS } from './batches.conflicts.ts';
import { undoRights } from './undo.rights.data.ts';

/**
 * Event types without anything to undo: downloaded files, reminders, jobs whose writes have their own batches, and runs of
 * analyses, which remain in the list of runs.
 */
export const ignoredEvents: readonly EventType[] = [
  'export.started',
  'export.streamed',
  'report.started',
  'report_query.started',
  'file.downloaded',
  'survey.reminded',
  'deprecation.announced',
  'deprecation.reminded',
  'import.started',
  'import.discarded',
  'migration.uploaded',
  'migration.mapped',
  'migration.started',
  'migration.previewed',
  'migration.applied',
  'migration.failed',
  'analysis_run.started',
  'analysis_run.completed',
  'analysis_run.failed',
  'analysis_run.cancelled',
];

/** First parts of the types of events that are never in a batch. */
export const outsideBatches = ['auth', 'mutation_batch'] as const;

/** Events that cannot be undone, by the event type or its first part, with the reason. */
export const refusedEvents: Record<string, string> = {
  user: 'Accounts are administered by hand.',
  api_token: 'Tokens are not stored and cannot be restored.',
  'settings.secret_changed': 'Secrets are not in events, and so cannot be restored.',
  job: 'Jobs run on, or have ended.',
  schedule: 'Schedules are administered by hand.',
  extraction_schedule: 'Schedules contain secrets, and extracted data has left the service.',
  extraction_run: 'Extracted data has left the service.',
  itsm_connection: 'Connections have secrets, which are not in events, so they cannot be restored.',
  itsm_mapping: 'What was agreed on with the remote is forgotten with a mapping, and does not come back.',
  itsm_pair: 'Pairs are taken apart and put together by operations of their own.',
  itsm_pairs: 'Pairs are taken apart and put together by operations of their own.',
  itsm_question: 'The answer is carried out by a run, which can be taken back.',
  itsm_run: 'A run is taken back by an undo of its own, which sees to both sides.',
  duplicates: 'A run has found them, and the next one finds them again.',
  'notification.created': 'Notifications cannot be withdrawn.',
  'notification.updated': 'Notifications cannot be withdrawn.',
};

const bySpec = new Map<string, UndoSpec>(
  undoSpecs.flatMap((spec) =>
    [spec.events.created, spec.events.updated, spec.events.deleted]
      .flatMap((types) => types ?? [])
      .map((type) => [type, spec] as const),
  ),
);

/** How an event is undone: `card` and `relation` in sets, others by their spec; undefined if it cannot be undone. */
export function undoMethodOf(type: EventType): 'card' | 'relation' | UndoSpec | undefined {
  const spec = bySpec.get(type);
  if (spec) return spec;
  if (type.startsWith('card.')) return 'card';
  return type.startsWith('relation.') ? 'relation' : undefined;
}

/** Why events of this type cannot be undone; undefined if they can, or need not be. */
export function refusalOf(type: EventType): string | undefined {
  if (undoMethodOf(type) || ignoredEvents.includes(type)) return undefined;
  return (
    undoRefusals.get(type) ??
    refusedEvents[type] ??
    refusedEvents[type.split('.')[0]!] ??
    'It cannot be undone.'
  );
}

/** The rights that undoing events of this type needs; undefined if nothing is undone. */
export function undoRightOf(type: EventType): UndoRight | undefined {
  if (ignoredEvents.includes(type) || !undoMethodOf(type)) return undefined;
  const right = declaredRights[type] ?? undoRights[type] ?? undoRights[type.split('.')[0]!];
  if (!right) throw new Error(`No right is declared for undoing ${type}.`);
  return right;
}

/**
 * Checks that the caller may undo a batch, or preview that: a batch of another user with `admin.rollback`, and each with
 * the permissions that the writes of the batch needed, for each card if a stakeholder role can grant them. Derived values
 * need none. Events of others that cannot be undone are only named to callers with `admin.events`.
 * @throws EstateError `forbidden` naming the first missing permission.
 */
export async function requireUndoRights(ctx: Ctx, sql: Sql, batchId: string): Promise<void> {
  const [actor] = await query(sql).column<string | null>`select actor_user_id from mutation_batches
    where id = ${batchId}::uuid`;
  const isOwn = actor !== null && actor === ctx.caller.userId;
  if (!isOwn) requirePermission(ctx.caller, 'admin.rollback');
  if (ctx.caller.permissions === '*') return;
  const rows = await query(sql).rows`select distinct e.event_type,
    e.user_id is not distinct from ${ctx.caller.userId}::uuid as own
     from events e where e.batch_id = ${batchId}::uuid and not ${embed(FOLLOWS)}`;
  for (const { event_type, own } of rows as { event_type: EventType; own: boolean }[]) {
    if (refusalOf(event_type) && !(isOwn && own)) requirePermission(ctx.caller, 'admin.events');
    const right = undoRightOf(event_type);
    if (!right) continue;
    const recreates =
      event_type === 'card.deleted' && isOwn && own && (await recreatesOwn(ctx, sql, batchId));
    const wanted = recreates ? CREATE : own ? right.needs : (right.others ?? right.needs);
    if (wanted === 'everything') requireGrantable(ctx.caller, { '*': true });
    else {
      const written = { batchId, event_type, own };
      const more = own && right.columns ? await ofColumns(sql, written, right.columns) : [];
      for (const need of [...wanted, ...more]) await requireNeed(ctx, sql, written, need);
    }
  }
  await requireSeenCosts(ctx, sql, batchId);
  await requireSettings(ctx, sql, batchId);
}

/** What creating a card needs. */
const CREATE: readonly RequiredRight[] = ['inventory.create'];

/**
 * Whether a batch of the caller only deleted cards by rolling back their creation by the caller: to roll that back in turn
 * creates them again, and needs no more than the first time. Not for cards that were approved or archived.
 */
async function recreatesOwn({ caller }: Ctx, sql: Sql, batchId: string): Promise<boolean> {
  return await query(sql).value<boolean>`select not exists (
    select from events d where d.batch_id = ${batchId}::uuid and d.event_type = 'card.deleted' and not (
      coalesce(d.data #>> '{changes,approval_status,old}', 'DRAFT') = 'DRAFT'
      and coalesce(d.data #>> '{changes,status,old}', 'ACTIVE') = 'ACTIVE'
      and exists (select from mutation_batches b join events e on e.batch_id = b.id
        where b.rolled_back_by = ${batchId}::uuid and b.actor_user_id = ${caller.userId}::uuid
          and e.event_type = 'card.created' and e.card_id = d.card_id and e.user_id = ${caller.userId}::uuid)))`;
}

interface Written {
  batchId: string;
  event_type: EventType;
  own: boolean;
}

/** The rights for the columns that events of a batch have written. */
async function ofColumns(
  sql: Sql,
  { batchId, event_type }: Written,
  columns: NonNullable<UndoRight['columns']>,
): Promise<RequiredRight[]> {
  const written = await query(sql).column<string>`select distinct k.column
    from events e, jsonb_object_keys(e.data -> 'changes') k ("column")
    where e.batch_id = ${batchId}::uuid and e.event_type = ${event_type}
      and k.column = any(${Object.keys(columns)}::text[])`;
  return written.map((column) => columns[column]!);
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

/** The cards of each event with the caller's roles on them; relations and data flows have two, and a role on one of them suffices. */
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
    ...(/^(relation|data_flow)\./.test(event_type)
      ? [{ id: row.peer_card_id, type: row.peer_card_type, myRoles: row.peer_roles }]
      : []),
  ]);
}

/** Costs, and roles that show them, can only be written by users who see the costs of the card. */
async function requireSeenCosts(ctx: Ctx, sql: Sql, batchId: string): Promise<void> {
  if (may(ctx.caller, 'costs.view')) return;
  const rows = await query(sql).rows`select exists (select from events e where e.batch_id = ${batchId}::uuid
       and (cardinality(e.cost_keys) > 0 or starts_with(e.event_type, 'stakeholder.')
            or (e.event_type = 'attachment.moved' and e.data ->> 'entity' = 'stakeholder'))
       and not ${embed(hasCostRole(ctx.caller, 'e.card_id, e.peer_card_id'))}) as hidden`;
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
