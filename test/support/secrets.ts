import type { TestApp } from './harness.ts';

/** What a secret would look like if it got out. */
export const SECRET = 'planted-secret-5d20';

/**
 * Puts a secret into every place of the database that is there for one, in clear: what is sealed would be found no more. And a
 * user whom nothing names.
 */
export async function plantSecrets({ services: { db } }: TestApp): Promise<void> {
  await db.raw(
    `insert into users (email, display_name, role, password_hash)
       values ('nobody-names-me@estate.example', 'Nobody', 'viewer', :secret);
     update users set password_hash = :secret, ui_preferences = jsonb_build_object('x', :secret::text);
     insert into settings (key, value) select 'secret.' || k || '.planted', to_jsonb(:secret::text)
       from unnest(array['email', 'sso', 'ai']) k;
     insert into settings (key, value) select 'workspace.' || k, jsonb_build_object('client_id', :secret::text)
       from unnest(array['email', 'sso', 'ai']) k on conflict (key) do update set value = excluded.value;
     insert into api_tokens (user_id, name, hash, hint, scopes) select id, :secret, :secret, :secret, '{*}' from users limit 1;
     insert into two_factor (user_id, secret, pending_secret) select id, :secret, :secret from users limit 1
       on conflict do nothing;
     insert into recovery_codes (user_id, hash) select id, :secret from users limit 1;
     insert into one_time_tokens (hash, purpose, data, expires_at)
       values (:secret, 'setup', jsonb_build_object('x', :secret::text), now() + interval '1 day');
     insert into sso_identities (issuer, subject, user_id) select :secret, :secret, id from users limit 1;
     insert into mails (recipient, content) values (:secret, jsonb_build_object('text', :secret::text));
     insert into webhooks (name, url, owner_id, rights, secret, previous_secret, position)
       select :secret, 'https://' || :secret, id, '{}', :secret, :secret, 0 from users limit 1;
     insert into channels (owner_id, name, kind, host, secret)
       select id, :secret, 'slack', 'hooks.slack.com', :secret from users limit 1;
     insert into itsm_connections (name, kind, instance_url, auth_type, username, secrets)
       values (:secret, 'servicenow', 'https://' || :secret, 'basic', :secret, :secret);
     insert into job_schedules (key, kind, queue, cron) values (:secret, 'scheduled-extraction', 'bulk', '0 0 1 1 *');
     insert into extraction_schedules (name, schedule_key, rights, request, destination, secret, keep_runs)
       values (:secret, :secret, '{}', '{}', jsonb_build_object('address', :secret::text), :secret, 1);`
      .replaceAll(':secret::text', `'${SECRET}'::text`)
      .replaceAll(':secret', `'${SECRET}'`),
  );
}
