import type { Sql } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import type { Ctx } from '../kernel/context.ts';
import { findItem, runList } from '../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../kernel/lists/lists.types.ts';
import { requirePermission } from '../kernel/permissions/policy.ts';

const apiTokenList: ListSpec = {
  name: 'api_tokens',
  from: 'api_tokens t',
  id: 't.id',
  sorts: {
    created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
    name: { sql: 'fold(t.name)', type: 'text', filled: true },
    last_used_at: { sql: 't.last_used_at', type: 'timestamptz' },
    expires_at: { sql: 't.expires_at', type: 'timestamptz' },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'fold(t.name)',
  members: {
    id: 't.id',
    user_id: 't.user_id',
    name: 't.name',
    hint: 't.hint',
    scopes: 't.scopes',
    expires_at: 'utc(t.expires_at)',
    is_expired: 'coalesce(t.expires_at <= now(), false)',
    last_used_at: 'utc(t.last_used_at)',
    created_by: 't.created_by',
    created_at: 'utc(t.created_at)',
  },
};

/** The tokens of a user: the caller's own, or others' with `admin.users`. @throws EstateError `forbidden`, `not_found`. */
export async function listApiTokens(ctx: Ctx, userId: string, params: ListParams): Promise<JsonText> {
  if (ctx.caller.userId !== userId) requirePermission(ctx.caller, 'admin.users');
  if (!(await ctx.db('users').where({ id: userId }).first('id'))) throw notFound('user', userId);
  return await runList(ctx.db, apiTokenList, [{ sql: 't.user_id = ?::uuid', bindings: [userId] }], params, {
    owner: ctx.caller.userId,
  });
}

/** One token without its secret. */
export async function readApiToken(sql: Sql, id: string): Promise<JsonText | undefined> {
  return await findItem(sql, apiTokenList, id);
}
