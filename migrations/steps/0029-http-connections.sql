-- Connections to lists at HTTP addresses: OAuth clients with their own token endpoint, and API keys.
alter table itsm_connections drop constraint itsm_connections_auth_type_check;
alter table itsm_connections add constraint itsm_connections_auth_type_check
  check (auth_type in ('basic', 'oauth2', 'token', 'api_key', 'none'));
-- the token endpoint and how the client authenticates there
alter table itsm_connections add column oauth jsonb;
-- the header or query parameter of the key
alter table itsm_connections add column api_key jsonb check ((api_key is not null) = (auth_type = 'api_key'));
-- where the next delta of a list starts that is read by delta tokens
alter table itsm_sync_states add column delta_token text;
