-- Access: roles, users, tokens, second factors, single sign-on, provisioning.

create table roles (
  id uuid primary key default uuidv7(),
  key text not null unique,
  label text not null,
  description text,
  color text not null default '#757575',
  permissions jsonb not null default '{}',
  is_system boolean not null default false,
  is_default boolean not null default false,
  is_archived boolean not null default false,
  sort_order integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  archived_at timestamptz,
  archived_by uuid
);
create unique index roles_one_default on roles (is_default) where is_default;

create table users (
  id uuid primary key default uuidv7(),
  email text not null,
  display_name text not null,
  role text not null references roles (key),
  password_hash text,
  is_active boolean not null default true,
  locale text not null default 'en',
  auth_provider text not null default 'local' check (auth_provider in ('local', 'sso')),
  ui_preferences jsonb not null default '{"dashboard_default_tab": "overview"}',
  notification_preferences jsonb not null default '{}',
  -- part of every access token; an increment revokes them all
  token_version integer not null default 1,
  failed_login_attempts integer not null default 0,
  locked_until timestamptz,
  last_login timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- service accounts are for programs: they have API tokens and no password
  kind text not null default 'person' check (kind in ('person', 'service')),
  -- the user responsible for a service account
  owner_id uuid references users (id) on delete set null,
  -- set until the invited user chooses a password
  invited_at timestamptz,
  -- when name and address were erased
  erased_at timestamptz,
  -- set by admin:reset: until then a password is accepted although single sign-on is required
  password_login_until timestamptz
);
create unique index users_email on users (lower(email));
create index users_role on users (role);
create index users_owner on users (owner_id) where owner_id is not null;

create table revoked_tokens (
  jti uuid primary key,
  expires_at timestamptz not null
);

-- Single-use secrets, as hashes: set-up of the first administrator, stream tickets, invitations.
create table one_time_tokens (
  hash text primary key,
  purpose text not null,
  user_id uuid references users (id) on delete cascade,
  data jsonb not null default '{}',
  expires_at timestamptz not null
);
create index one_time_tokens_purpose on one_time_tokens (purpose, user_id);

-- Unlogged: a crash may reset these counters, which only slow down guessing.
create unlogged table throttles (
  key text primary key,
  window_start timestamptz not null,
  hits integer not null
);

create table api_tokens (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users (id) on delete cascade,
  name text not null,
  -- SHA-256 of the token, which is 256 random bits
  hash text not null unique,
  -- the first characters of the token, so that users recognise it
  hint text not null,
  -- permission keys, or '*' for all permissions of the user
  scopes text[] not null,
  expires_at timestamptz,
  -- to the minute
  last_used_at timestamptz,
  created_by uuid,
  created_at timestamptz not null default now()
);
create index api_tokens_user on api_tokens (user_id, id);

create table two_factor (
  user_id uuid primary key references users (id) on delete cascade,
  -- both encrypted; the pending secret replaces the other when a code of it was verified
  secret text,
  pending_secret text,
  -- the last time step whose code was used; older codes are refused
  last_step bigint not null default 0,
  confirmed_at timestamptz,
  failed_codes integer not null default 0,
  locked_until timestamptz
);

-- Hashes of single-use codes for users without their second factor.
create table recovery_codes (
  user_id uuid not null references users (id) on delete cascade,
  hash text not null,
  primary key (user_id, hash)
);

-- The subject at a provider never changes and is never reused; an address may do both.
create table sso_identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (issuer, subject),
  unique (user_id, issuer)
);

-- Separate from users: erased with the person, whereas events are kept.
create table scim_identities (
  user_id uuid primary key references users (id) on delete cascade,
  user_name text not null,
  external_id text,
  given_name text,
  family_name text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index scim_identities_user_name on scim_identities (lower(user_name));
create index scim_identities_external_id on scim_identities (external_id) where external_id is not null;

create table scim_groups (
  id uuid primary key default uuidv7(),
  display_name text not null,
  external_id text,
  created_at timestamptz not null default now(),
  -- also changes with its members
  updated_at timestamptz not null default now()
);
create unique index scim_groups_display_name on scim_groups (lower(display_name));
create index scim_groups_external_id on scim_groups (external_id) where external_id is not null;

create table scim_group_members (
  id uuid primary key default uuidv7(),
  group_id uuid not null references scim_groups (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  unique (group_id, user_id)
);
create index scim_group_members_user on scim_group_members (user_id);

-- The state that every request needs: the users and roles of credentials, and the versions of all topics. Null when the
-- snapshot is the known one: equal snapshots of one server see the same rows, and that answer costs half the time.
-- Only expiry and use of API tokens depend on the clock: good_seconds is how long the answer is valid for the tokens in
-- it, and unnoted lists the tokens whose last use was recorded at least a minute ago.
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
