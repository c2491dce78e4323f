-- Amounts of cards and relations by period. Both days of a period belong to it.
create table costs (
  id uuid primary key default uuidv7(),
  card_id uuid references cards (id) on delete cascade,
  relation_id uuid references relations (id) on delete cascade,
  kind text not null,
  period_start date not null,
  period_end date not null,
  amount numeric not null,
  currency text not null,
  description text,
  external_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(card_id, relation_id) = 1),
  check (period_end >= period_start)
);
create index costs_card on costs (card_id, period_start, id) where card_id is not null;
create index costs_relation on costs (relation_id, period_start, id) where relation_id is not null;
create unique index costs_external_id on costs (external_id) where external_id is not null;
create index costs_created on costs (created_at, id);

-- The price of one unit of a currency in the currency of the workspace; null without a rate.
create function exchange_rate(code text) returns numeric language sql stable parallel safe as $$
  select case
    when code = coalesce((select value #>> '{}' from settings where key = 'workspace.currency'), 'USD') then 1
    else (select (r ->> 'rate')::numeric from settings s cross join jsonb_array_elements(s.value) r
          where s.key = 'workspace.exchange_rates' and r ->> 'currency' = code limit 1)
  end
$$;

-- The part of an amount that belongs to some days, if it is the same on each day of its period.
create function cost_share(amount numeric, period_start date, period_end date, first date, last date)
  returns numeric language sql immutable parallel safe
  return amount * greatest(0, least(period_end, last) - greatest(period_start, first) + 1)
    / (period_end - period_start + 1);

-- The first day of the fiscal year that contains a day, if fiscal years begin in a month (1 to 12).
create function fiscal_year_start(day date, month integer) returns date language sql immutable parallel safe
  return make_date(extract(year from day)::int - (extract(month from day) < month)::int, month, 1);

-- The costs of a card or a relation in the current fiscal year; null if it has none that can be converted.
create function annual_cost(card uuid, relation uuid) returns numeric language sql stable parallel safe as $$
  with year as (
    select fiscal_year_start((now() at time zone 'UTC')::date, coalesce(
      (select (value #>> '{}')::int from settings where key = 'workspace.fiscal_year_start'), 1)) as first
  )
  select round(sum(cost_share(k.amount, k.period_start, k.period_end, y.first,
    (y.first + interval '1 year - 1 day')::date) * exchange_rate(k.currency)), 2)
  from year y join costs k on k.card_id = card or k.relation_id = relation
$$;

-- The attributes of a card or a relation that are computed from its costs: none if it has no costs.
create function cost_sums(card uuid, relation uuid) returns jsonb language sql stable parallel safe as $$
  select case when exists (select from costs k where k.card_id = card or k.relation_id = relation)
    then jsonb_build_object('costTotalAnnual', annual_cost(card, relation)) else '{}' end
$$;

create table import_cost_rows (
  job_id uuid not null,
  line integer not null,
  id uuid,
  external_id text,
  -- how the row names its card or relation
  card_id uuid,
  card_type text,
  card_external_id text,
  card_name text,
  relation_id uuid,
  errors jsonb,
  -- the first member that only a new cost needs
  missing text,
  bytes integer not null,
  payload json,
  primary key (job_id, line)
);

create table import_cost_plan (
  job_id uuid not null,
  batch integer not null,
  line integer not null,
  cost_id uuid not null,
  is_new boolean not null,
  card_id uuid,
  relation_id uuid,
  primary key (job_id, batch, line)
);
