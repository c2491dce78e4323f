import { query } from '../../platform/database.ts';
import { EstateError, invalidField, notFound, requireText } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Ctx, Work } from '../kernel/context.ts';
import { rowChanges } from '../kernel/events/row-changes.ts';
import { defineList, ofParent } from '../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../kernel/lists/lists.run.ts';
import { requireControlOf, requireSession } from '../kernel/permissions/grants.ts';
import { appPermissions } from '../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../kernel/permissions/policy.ts';
import { deleteRows, insertRow, requireRow } from '../kernel/resources/rows.ts';
import { readSetting } from '../kernel/settings/settings.read.ts';
import { ApiToken, type ApiTokenRow, newApiToken } from './api-tokens.ts';
import { User } from './users.model.ts';

const ofUser = ofParent('users', 'user', 't.user_id');
/** The tokens of a user: the caller's own, or others' with `admin.users`. */
export const apiTokenList = defineList({
  name: 'api_tokens',
  from: 'api_tokens t',
  id: 't.id',
  sorts: {
    ...columnSorts('t', ApiToken, 'created_at', 'last_used_at', 'expires_at'),
    name: { sql: 'fold(t.name)', type: 'text', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'fold(t.name)',
  members: { ...columnMembers('t', ApiToken.shown), is_expired: 'coalesce(t.expires_at <= now(), false)' },
  where(ctx, params, id = ctx.caller.userId!) {
    if (ctx.caller.userId !== id.toLowerCase()) requirePermission(ctx.caller, 'admin.users');
    return ofUser(ctx, params, id);
  },
});

/** Maximum number of tokens for each account. */
const MAX_TOKENS = 100;
const DAY_MS = 24 * 60 * 60 * 1000;
const CLOCK_MS = 60 * 1000;
/** Columns that are omitted from events: hashes are secret, and the last use is not a change. */
const NOT_IN_EVENTS = ['hash', 'last_used_at'];

interface ApiTokenInput {
  name: string;
  /** Permission keys and `account`, or `*` for all rights of the user at the time of use. */
  scopes: string[];
  /** RFC 3339; absent or null: the maximum lifetime in the settings. */
  expires_at?: string | null;
}

/**
 * Creates a token for a user: for oneself with a login, for others with `admin.users`. Only this response contains the
 * token.
 * @returns the token's representation with `token`, as JSON text.
 * @throws EstateError `session_required`, `forbidden`, `not_found`, `validation_failed`, `conflict`.
 */
export async function createApiToken(ctx: Ctx, userId: string, input: ApiTokenInput): Promise<string> {
  requireSession(ctx.caller);
  const own = ctx.caller.userId === userId;
  if (!own) requirePermission(ctx.caller, 'admin.users');
  const scopes = checkScopes(input.scopes);
  const name = requireText(input.name, 'name');
  const asked = input.expires_at ? new Date(input.expires_at) : null;
  // A leap second is not a valid time here.
  if (asked && !(asked.getTime() > Date.now())) throw invalidField('expires_at', 'past', 'is in the past');
  const made = newApiToken();
  return await command(ctx, async (work) => {
    const user = await requireRow(work.sql, User, 'user', { id: userId });
    if (!own) await requireControlOf(ctx, work.sql, user);
    if (!user.is_active) throw new EstateError('wrong_state', 'The account is not active.');
    const ends = await endOfLife(work, asked);
    const held = await query(work.sql).rows`select count(*)::int as n from api_tokens
      where user_id = ${userId}::uuid`;
    if (held[0].n >= MAX_TOKENS) {
      const detail = `An account can have at most ${MAX_TOKENS} tokens; revoke one first.`;
      throw new EstateError('conflict', detail);
    }
    const row = await insertRow(work.sql, ApiToken, {
      user_id: userId,
      name,
      hash: made.hash,
      hint: made.hint,
      scopes,
      expires_at: ends.toISOString(),
      created_by: ctx.caller.userId,
    });
    work.emit({ event_type: 'api_token.created', data: tokenData(row, null, row) });
    const text = await readItem(work.sql, apiTokenList, 'token', row.id);
    return `${text.slice(0, -1)},"token":${JSON.stringify(made.token)}}`;
  });
}

/** When the token expires: as requested, or after the maximum lifetime. @throws EstateError `validation_failed`. */
async function endOfLife({ sql }: Work, asked: Date | null): Promise<Date> {
  const days = await readSetting(sql, 'api_token_max_days');
  const latest = new Date(Date.now() + days * DAY_MS);
  // A client's clock may be slightly ahead.
  if (asked && asked.getTime() > latest.getTime() + CLOCK_MS) {
    const message = `lies more than ${days} days ahead, the longest life of a token`;
    throw invalidField('expires_at', 'too_late', message);
  }
  return asked ?? latest;
}

/** @throws EstateError `validation_failed` naming the unknown scope. */
function checkScopes(scopes: string[]): string[] {
  const known = (scope: string) =>
    scope === '*' || scope === 'account' || Object.hasOwn(appPermissions, scope);
  const at = scopes.findIndex((scope) => !known(scope));
  if (at >= 0) throw invalidField(`scopes.${at}`, 'unknown_permission', `"${scopes[at]}" is no scope`);
  return scopes.includes('*') ? ['*'] : [...new Set(scopes)];
}

/**
 * Revokes a token, effective at once in all processes.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function revokeApiToken(ctx: Ctx, userId: string, id: string): Promise<void> {
  if (ctx.caller.userId !== userId) requirePermission(ctx.caller, 'admin.users');
  await command(ctx, async (work) => {
    if ((await removeTokens(work, { id, user_id: userId })) === 0) throw notFound('token', id);
  });
}

/** Revokes every token of a user. */
export async function revokeApiTokensOf(work: Work, userId: string): Promise<void> {
  await removeTokens(work, { user_id: userId });
}

async function removeTokens(work: Work, where: Partial<ApiTokenRow>): Promise<number> {
  const gone = await deleteRows(work.sql, ApiToken, (query) => query.where(where));
  for (const row of gone) work.emit({ event_type: 'api_token.deleted', data: tokenData(row, row, null) });
  return gone.length;
}

function tokenData(row: ApiTokenRow, before: ApiTokenRow | null, after: ApiTokenRow | null) {
  const changes = rowChanges(before, after, NOT_IN_EVENTS);
  return { id: row.id, user_id: row.user_id, name: row.name, changes };
}
