import type { Knex } from 'knex';

/**
 * Mutation batches: every write belongs to one. The batch of a request that names none is written with its first
 * event, closed.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table mutation_batches (
      id uuid primary key,
      tool_name text not null,
      actor_user_id uuid,
      origin text not null,
      dry_run boolean not null default false,
      -- stored hashed; set while a dry-run batch may still be confirmed
      confirm_token_hash text,
      confirm_token_expires_at timestamptz,
      row_count integer not null default 0,
      summary jsonb,
      created_at timestamptz not null default now(),
      committed_at timestamptz,
      -- the batch that undid this one
      rolled_back_by uuid,
      rolled_back_at timestamptz
    );
    create index mutation_batches_created on mutation_batches (created_at desc, id);
    create index events_batch on events (batch_id, position) where batch_id is not null;

    drop function record_events(jsonb, text[]);

    -- Events of one transaction: a JSON array of event rows, the topics to raise, and the batch they belong to
    -- (null for what is in none, such as logins). Answers the position of the last event.
    create function record_events(rows jsonb, topics text[], batch jsonb default null) returns bigint
      language plpgsql as $$
    declare
      last bigint;
    begin
      -- before the feed's lock: the first transaction of a batch makes its row
      perform note_batch(batch);
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

    create function note_batch(batch jsonb) returns void language sql as $$
      insert into mutation_batches (id, tool_name, actor_user_id, origin, committed_at)
      select (batch ->> 'id')::uuid, batch ->> 'tool_name', (batch ->> 'actor_user_id')::uuid, batch ->> 'origin', now()
      where batch is not null
      on conflict (id) do nothing
    $$;
  `);
}
