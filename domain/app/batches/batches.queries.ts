import Type from 'typebox';
import { embed, fragment, type Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { eventListOf, withVisibleCosts } from '../../kernel/events/events.queries.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { Choice, TextUpTo, Uuid } from '../../kernel/shapes.ts';

/** All batches, newest first. */
export const batchList = defineList({
  name: 'mutation_batches',
  from: 'mutation_batches b left join users u on u.id = b.actor_user_id',
  id: 'b.id',
  sorts: { created_at: { sql: 'b.created_at', type: 'timestamptz', immutable: true } },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  filters: {
    actor_user_id: [Type.String({ ...Uuid, description: 'Whose they are' }), 'b.actor_user_id = ?::uuid'],
    tool_name: [TextUpTo(200, 'What wrote them'), 'b.tool_name = ?'],
    origin: [TextUpTo(20, 'The origin of the writes: api, web, mcp, job or system'), 'b.origin = ?'],
    state: [
      Choice(['open', 'closed', 'rolled_back'], 'Only batches in this state'),
      `case when b.rolled_back_by is not null then 'rolled_back' when b.committed_at is null then 'open' else 'closed' end = ?`,
    ],
    since: [Type.String({ format: 'date-time' }), 'b.created_at >= ?::timestamptz'],
    until: [Type.String({ format: 'date-time' }), 'b.created_at < ?::timestamptz'],
  },
  members: {
    id: 'b.id',
    tool_name: 'b.tool_name',
    actor_user_id: 'b.actor_user_id',
    actor_display_name: 'u.display_name',
    origin: 'b.origin',
    dry_run: 'b.dry_run',
    row_count: 'b.row_count',
    // Only in the response that opens the batch.
    confirm_token: 'null::text',
    summary: 'b.summary',
    created_at: 'utc(b.created_at)',
    committed_at: 'utc(b.committed_at)',
    rolled_back_by: 'b.rolled_back_by',
    rolled_back_at: 'utc(b.rolled_back_at)',
  },
});

/** The members of a batch's events in responses. */
export const batchEventMembers = [
  'id',
  'position',
  'event_type',
  'data',
  'card_id',
  'user_id',
  'user_display_name',
  'created_at',
] as const;
const eventList: ListSpec = { ...eventListOf('batch_events', batchEventMembers), defaultDir: 'asc' };

/** One batch as its JSON text; `token` is only in the response that opens it. @throws EstateError `not_found`. */
export async function batchText(sql: Sql, id: string, token: string | null = null): Promise<JsonText> {
  return await textOf(sql, id, { ...batchList.members, confirm_token: fragment`${token}::text` });
}

/**
 * The batch in the response of a rollback: the writer and tool of another user's batch are only shown to callers with
 * `admin.events`, as in the list of batches.
 * @throws EstateError `not_found`.
 */
export async function rolledBackBatchText({ db, caller }: Ctx, id: string): Promise<JsonText> {
  if (may(caller, 'admin.events')) return await batchText(db, id);
  const own = (sql: string) =>
    fragment`case when b.actor_user_id = ${caller.userId}::uuid then ${embed(sql)} end`;
  return await textOf(db, id, {
    ...batchList.members,
    actor_user_id: own('b.actor_user_id'),
    actor_display_name: own('u.display_name'),
    summary: own('b.summary'),
  });
}

async function textOf(sql: Sql, id: string, members: ListSpec['members']): Promise<JsonText> {
  return await readItem(sql, { ...batchList, members }, 'batch', id);
}

/** The events of a batch, oldest first, with the batch itself. @throws EstateError `not_found`. */
export async function listBatchEvents(ctx: Ctx, id: string, params: ListParams): Promise<JsonText> {
  const batch = await batchText(ctx.db, id);
  const spec = withVisibleCosts(eventList, ctx);
  const list = await runList(ctx, spec, [fragment`e.batch_id = ${id}::uuid`], params);
  return `{"batch":${batch},${list.slice(1)}`;
}
