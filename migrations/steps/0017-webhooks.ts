import type { Knex } from 'knex';

/** Webhook subscriptions and their deliveries. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table webhooks (
      id uuid primary key default uuidv7(),
      name text not null,
      url text not null,
      -- null: all kinds, all types
      event_types text[],
      card_types text[],
      status text not null default 'active' check (status in ('active', 'paused')),
      paused_reason text,
      -- what is delivered is what the owner saw when subscribing, and still sees
      owner_id uuid not null references users (id) on delete cascade,
      rights jsonb not null,
      -- sealed; the previous one signs as well until it ends
      secret text not null,
      previous_secret text,
      previous_secret_until timestamptz,
      -- the feed up to here has been planned
      position bigint not null,
      failures integer not null default 0,
      failing_since timestamptz,
      last_delivered_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index webhooks_active on webhooks (id) where status = 'active';

    create table webhook_deliveries (
      id uuid primary key default uuidv7(),
      webhook_id uuid not null references webhooks (id) on delete cascade,
      -- null for a ping
      position bigint,
      event_type text not null,
      -- deliveries of one key go out in order
      order_key text not null,
      status text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
      attempts integer not null default 0,
      next_attempt_at timestamptz not null default now(),
      leased_until timestamptz,
      response_status integer,
      error text,
      duration_ms integer,
      -- tried until then
      expires_at timestamptz not null default now() + interval '24 hours',
      created_at timestamptz not null default clock_timestamp(),
      finished_at timestamptz
    );
    create index webhook_deliveries_log on webhook_deliveries (webhook_id, id);
    create index webhook_deliveries_order on webhook_deliveries (webhook_id, order_key, id) where status = 'pending';
    create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where status = 'pending';
    create index webhook_deliveries_finished on webhook_deliveries (finished_at) where finished_at is not null;
  `);
}
