-- Sessions of the web interface, for their list. Whether a session is valid follows from its cookie, the token version of
-- its user, and revoked_tokens.
create table web_sessions (
  -- the id of all cookies of the session
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  token_version integer not null,
  created_at timestamptz not null,
  -- to the hour
  last_used_at timestamptz not null default now(),
  -- when the latest cookie expires
  expires_at timestamptz not null,
  user_agent text,
  address text not null
);
create index web_sessions_user on web_sessions (user_id, last_used_at, id);
create index web_sessions_expires on web_sessions (expires_at);
