import type { Knex } from 'knex';

/**
 * Extensions, text folding, settings, topic versions and the one change feed.
 *
 * `record_events` is the only way into `events`: it takes the feed's advisory lock as the transaction's last
 * act, so that positions grow in commit order and a reader never skips a row whose transaction commits late.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create extension if not exists unaccent;
    create extension if not exists pg_trgm;

    -- Lower case without accents, in the same way whatever the database's locale. unaccent() is only STABLE
    -- because its dictionary may be altered; ours is named and never altered, so the wrapper may be indexed.
    create function fold(value text) returns text
      language sql immutable strict parallel safe
      return lower(public.unaccent('public.unaccent'::regdictionary, value) collate pg_c_utf8);

    -- A timestamp as answers show it: RFC 3339 in UTC with milliseconds. STABLE as to_char() is, so that it is
    -- expanded in place, which halves its cost.
    create function utc(value timestamptz) returns text
      language sql stable strict parallel safe
      return to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

    create table settings (
      key text primary key,
      value jsonb not null,
      updated_at timestamptz not null default now(),
      updated_by uuid
    );

    create table topic_versions (
      topic text primary key,
      version bigint not null default 1
    );

    create sequence events_position_seq as bigint cache 1;

    create table events (
      position bigint primary key,
      id uuid not null default uuidv7(),
      event_type text not null,
      at timestamptz not null default clock_timestamp(),
      scope text not null default 'inventory' check (scope in ('inventory', 'audit', 'user')),
      user_id uuid,
      card_id uuid,
      card_type text,
      peer_card_id uuid,
      peer_card_type text,
      relation_id uuid,
      relation_type text,
      recipient_id uuid,
      batch_id uuid,
      job_id uuid,
      request_id text,
      origin text,
      -- keys of data.changes whose values are costs
      cost_keys text[],
      data jsonb not null default '{}'
    );
    create index events_card on events (card_id, position desc) where card_id is not null;
    create index events_peer_card on events (peer_card_id, position desc) where peer_card_id is not null;
    create index events_at on events (at);
    create index events_user on events (user_id, position desc) where user_id is not null;

    -- An event's data without its cost values.
    create function cut_costs(data jsonb, cost_keys text[]) returns jsonb
      language sql immutable parallel safe
      return case when data -> 'changes' is null then data
             else jsonb_set(data, '{changes}', (data -> 'changes') - cost_keys) end;

    -- Events of one transaction: a JSON array of event rows, and the topics to raise.
    -- Answers the position of the last event (or of the newest one when there was none).
    create function record_events(rows jsonb, topics text[]) returns bigint language plpgsql as $$
    declare
      last bigint;
    begin
      perform pg_advisory_xact_lock(7203001);
      insert into events (position, event_type, scope, user_id, card_id, card_type, peer_card_id, peer_card_type,
                          relation_id, relation_type, recipient_id, batch_id, job_id, request_id, origin,
                          cost_keys, data)
      select nextval('events_position_seq'), e.event_type, coalesce(e.scope, 'inventory'), e.user_id, e.card_id,
             e.card_type, e.peer_card_id, e.peer_card_type, e.relation_id, e.relation_type, e.recipient_id,
             e.batch_id, e.job_id, e.request_id, e.origin, e.cost_keys, coalesce(e.data, '{}')
      from rows from (jsonb_to_recordset(rows) as (
        event_type text, scope text, user_id uuid, card_id uuid, card_type text, peer_card_id uuid,
        peer_card_type text, relation_id uuid, relation_type text, recipient_id uuid, batch_id uuid, job_id uuid,
        request_id text, origin text, cost_keys text[], data jsonb
      )) with ordinality as e(event_type, scope, user_id, card_id, card_type, peer_card_id, peer_card_type,
        relation_id, relation_type, recipient_id, batch_id, job_id, request_id, origin, cost_keys, data, n)
      order by e.n;
      perform raise_topics(topics);
      select last_value into last from events_position_seq;
      perform pg_notify('estate_feed', '');
      return last;
    end $$;

    -- Raises the versions of topics, in fixed order. Only to be called under the feed's lock.
    create function raise_topics(topics text[]) returns void language sql as $$
      insert into topic_versions (topic) select distinct unnest(topics) order by 1
      on conflict (topic) do update set version = topic_versions.version + 1
    $$;
  `);
}
