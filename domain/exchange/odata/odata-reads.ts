import { embed, fragment, query } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { deleteExpired } from '../../kernel/extensions.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { may } from '../../kernel/permissions/policy.ts';

/** How long reads count as usage. */
const KEPT_DAYS = 90;
const KEPT = `interval '${KEPT_DAYS} days'`;

/**
 * Records which parts of the metamodel a request names, under the account or the presented token: each once a day, so that
 * further requests of the day write nothing.
 */
export async function recordReads({ db, caller }: Ctx, paths: readonly string[]): Promise<void> {
  if (paths.length === 0 || caller.userId === null) return;
  const token = caller.apiTokenId ?? null;
  await query(db).run`insert into odata_reads as o (user_id, token_id, path, last_day)
    select u.id, k.id, p, (now() at time zone 'UTC')::date
    from unnest(${[...paths]}::text[]) p join users u on u.id = ${caller.userId}::uuid
      left join api_tokens k on k.id = ${token}::uuid
    where (k.id is not null or ${token}::uuid is null) and not exists (select from odata_reads r
      where r.user_id = u.id and r.path = p and r.token_id is not distinct from k.id
        and r.last_day = (now() at time zone 'UTC')::date)
    order by p
    on conflict (user_id, token_id, path) do update set last_day = excluded.last_day where o.last_day < excluded.last_day`;
}

/** Accounts and tokens that have read over OData. */
export const odataConsumers = defineConsumers<string[]>({
  tables: ['odata_reads'],
  rows: ({ caller }) => fragment`select coalesce(o.token_id, o.user_id)::text as id, 'odata' as kind,
      coalesce(max(k.name || ' (' || k.hint || '…)'), max(u.display_name)) as name, o.user_id as owner_id, max(o.last_day)::timestamptz as last_used_at,
      '/api/v1/users/' || o.user_id as link,
      o.user_id = ${caller.userId}::uuid or ${may(caller, 'admin.users')}::boolean as is_visible, jsonb_agg(o.path) as content
    from odata_reads o join users u on u.id = o.user_id left join api_tokens k on k.id = o.token_id
    where o.last_day > now() - ${embed(KEPT)} group by o.user_id, o.token_id`,
  references: (paths) => paths.map((path) => [path]),
});

/** Deletes reads that no longer count. */
export const removeOldReads = deleteExpired('odata_reads', `last_day <= now() - ${KEPT}`);
