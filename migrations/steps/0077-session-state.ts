import type { Knex } from 'knex';

/**
 * What every request reads before anything else: who a credential stands for, and the versions of all topics. Nearly
 * always nothing at all has been committed since the process read it last, which the server's snapshot tells: an equal
 * one, by the same server, sees the very same rows. To say so takes the server half of what the reading takes.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Null where the snapshot is the known one. An API token's times are the only thing that changes by the clock:
    -- good_seconds says for how long the answer holds of the tokens shown, unnoted which of them were last noted as
    -- used a minute ago or more.
    create function session_state(known_server text, known_snapshot text, known_sum bigint, user_ids uuid[],
                                  token_ids uuid[], hashes text[], role_keys text[]) returns text
      language plpgsql stable parallel safe as $$
    declare
      server constant text := pg_postmaster_start_time()::text;
      snapshot constant text := pg_current_snapshot()::text;
      minute constant interval := '1 minute';
      answer text;
    begin
      if server = known_server and snapshot = known_snapshot then
        return null;
      end if;
      with shown as (
        select id, user_id, hash, scopes, expires_at, last_used_at,
               coalesce(last_used_at < now() - minute, true) as unnoted
        from api_tokens where hash = any(hashes) and (expires_at is null or expires_at > now())
      )
      select json_build_object(
        'server', server, 'snapshot', snapshot, 'sum', g.sum,
        'topics', case when server = known_server and g.sum = known_sum then null
                       else (select json_object_agg(topic, version) from topic_versions) end,
        'users', (
          select json_object_agg(u.id, json_build_object('id', u.id, 'email', u.email,
              'display_name', u.display_name, 'role', u.role, 'token_version', u.token_version,
              'permissions', r.permissions, 'is_archived', r.is_archived)::text)
          from users u join roles r on r.key = u.role
          where u.is_active and u.id in (select unnest(user_ids) union all select user_id from shown)),
        'revoked', (select json_agg(jti) from revoked_tokens where jti = any(token_ids)),
        'tokens', (select json_object_agg(hash, json_build_object('id', id, 'user_id', user_id, 'hash', hash,
            'scopes', scopes, 'expires_at', expires_at)::text) from shown),
        'unnoted', (select json_agg(id) from shown where unnoted),
        'good_seconds', (
          select extract(epoch from min(least(
            expires_at - now(), case when unnoted then minute else last_used_at + minute - now() end)))
          from shown),
        'roles', (select json_object_agg(key, permissions) from roles where key = any(role_keys) and not is_archived)
      )::text into answer
      from (select coalesce(sum(version), 0)::bigint as sum from topic_versions) g;
      return answer;
    end $$;
  `);
}
