-- Analysis: runs, usage of language models, suppliers, modernization, target architectures, duplicates.

create table analysis_runs (
  id uuid primary key default uuidv7(),
  analysis_type text not null,
  status text not null default 'running' check (status in ('running', 'completed', 'failed', 'cancelled')),
  parameters jsonb not null default '{}',
  -- of the learned model that was applied; null without one
  model_version text,
  -- figures by name; never costs
  results jsonb,
  -- the parts of the analysis that used a language model
  model_parts jsonb not null default '[]',
  error_code text,
  error_message text,
  -- no reference: jobs are deleted before their runs
  job_id uuid,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz
);
create unique index analysis_runs_one on analysis_runs (analysis_type) where status = 'running';
create index analysis_runs_job on analysis_runs (job_id);

create table analysis_parts (
  run_id uuid not null references analysis_runs on delete cascade,
  -- step of the analysis
  part text not null,
  content bytea not null,
  primary key (run_id, part)
);

create table ai_usage (
  -- when the call started, in UTC
  day date not null,
  -- null for a direct request of a user. No reference: usage outlives runs
  run_id uuid,
  purpose text not null,
  provider text not null,
  model text not null,
  -- requests sent, including retries
  calls bigint not null default 0,
  tokens_in bigint not null default 0,
  tokens_out bigint not null default 0,
  -- for calls in progress, and for those whose result is unknown; they count as used
  tokens_reserved bigint not null default 0,
  id uuid not null default uuidv7() primary key,
  unique nulls not distinct (day, run_id, purpose, provider, model)
);
create index on ai_usage (run_id) where run_id is not null;

create table ai_outcomes (
  provider text not null,
  purpose text not null,
  -- answered, or the reason why not
  outcome text not null,
  questions bigint not null default 0,
  -- requests sent, including retries
  calls bigint not null default 0,
  tokens_in bigint not null default 0,
  tokens_out bigint not null default 0,
  primary key (provider, purpose, outcome)
);

create table suppliers (
  id uuid primary key default uuidv7(),
  canonical_name text not null,
  vendor_type text not null check (vendor_type in ('vendor', 'partner', 'internal', 'product')),
  -- the parent supplier; for a product, its supplier
  parent_id uuid references suppliers on delete set null,
  parent_reason text,
  -- the top of the hierarchy, even if it is not in this table
  group_name text not null,
  -- identifies a product across runs
  product_key text,
  -- the lowest confidence of its names
  confidence numeric(4, 3) not null,
  category text,
  sub_category text,
  category_confidence numeric(4, 3),
  reasoning text,
  categorised_at timestamptz,
  placed_at timestamptz
);
create index suppliers_parent on suppliers (parent_id) where parent_id is not null;

create table supplier_names (
  supplier_id uuid not null references suppliers on delete cascade,
  name text not null,
  name_key text not null,
  confidence numeric(4, 3) not null,
  reason text not null,
  primary key (supplier_id, name)
);

-- The cards of a supplier or product.
create table supplier_cards (
  supplier_id uuid not null references suppliers on delete cascade,
  card_id uuid not null,
  -- provider: the card is the supplier; supplied: it supplies the card
  role text not null check (role in ('provider', 'supplied')),
  -- the number of suppliers among which the costs of the card are divided
  shared_by int not null default 1 check (shared_by > 0),
  primary key (supplier_id, card_id, role)
);
create index supplier_cards_card on supplier_cards (card_id);

create table modernizations (
  id uuid primary key default uuidv7(),
  run_id uuid not null,
  -- of the last completed run; only these are listed
  is_current boolean not null default false,
  target_type text not null,
  card_id uuid not null,
  modernization_type text not null,
  current_tech text not null,
  recommendation text not null,
  effort text not null check (effort in ('low', 'medium', 'high')),
  -- 0 to 100; the second is shown to users who may not see costs
  score numeric(5, 1) not null,
  score_without_costs numeric(5, 1) not null,
  -- [{factor, points, reason}], most points first
  reasons jsonb not null,
  dependants int not null,
  status text not null default 'pending' check (status in ('pending', 'accepted', 'dismissed')),
  analysed_at timestamptz not null default now(),
  unique (run_id, card_id)
);
create index modernizations_current on modernizations (target_type, score desc) where is_current;

create table modernization_decisions (
  id uuid primary key default uuidv7(),
  card_id uuid not null,
  modernization_type text not null,
  -- pending proposals have no row
  status text not null check (status in ('accepted', 'dismissed')),
  decided_by uuid references users on delete set null,
  decided_at timestamptz not null default now(),
  unique (card_id, modernization_type)
);

create table assessments (
  id uuid primary key default uuidv7(),
  title text not null,
  requirement text not null,
  status text not null default 'saved' check (status in ('saved', 'committed')),
  session_data jsonb not null,
  -- the initiative that it was committed as; that may be deleted or merged later
  initiative_id uuid,
  -- the decision, in Markdown
  decision_draft text,
  created_by uuid references users (id) on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check ((status = 'committed') = (initiative_id is not null))
);

-- JSON without the members of these names, at any depth. The depth is bounded when the value is stored.
create function cut_members(value jsonb, names text[]) returns jsonb
  language plpgsql immutable parallel safe as $$
  begin
    if jsonb_typeof(value) = 'object' then
      return coalesce((select jsonb_object_agg(m.key, cut_members(m.value, names))
        from jsonb_each(value) m where m.key <> all(names)), '{}');
    elsif jsonb_typeof(value) = 'array' then
      return coalesce((select jsonb_agg(cut_members(i.value, names) order by i.n)
        from jsonb_array_elements(value) with ordinality i(value, n)), '[]');
    end if;
    return value;
  end $$;

-- Versions of learned models, by hash of their content.
create table duplicate_models (
  id text primary key,
  card_type text not null,
  -- the compared fields and how they are compared
  fields jsonb not null,
  -- in bits, by aspect, and the prior of any pair
  weights jsonb not null,
  learned_at timestamptz not null default now()
);

-- By card type: the applied model and the snapshot of the last run.
create table duplicate_states (
  card_type text primary key,
  run_id uuid not null,
  model_id text not null references duplicate_models,
  -- as learned from records only; decisions refine it
  base_model bytea not null,
  snapshot bytea not null,
  figures jsonb not null,
  found_at timestamptz not null
);

-- Results of the steps of a run, from which it resumes.
create table duplicate_parts (
  run_id uuid not null references analysis_runs on delete cascade,
  card_type text not null,
  stage text not null,
  content bytea not null,
  primary key (run_id, card_type, stage)
);

-- The id is derived from the ids of its cards, as for pairs.
create table duplicate_clusters (
  id uuid primary key,
  card_type text not null,
  card_ids uuid[] not null,
  status text not null default 'pending' check (status in ('pending', 'confirmed', 'investigating', 'dismissed')),
  -- 0..1: average similarity of each card to the others
  cohesion double precision not null,
  least_score double precision not null,
  most_score double precision not null,
  run_id uuid not null,
  decided_by uuid references users on delete set null,
  decided_at timestamptz,
  found_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index duplicate_clusters_type on duplicate_clusters (card_type, status);
create index duplicate_clusters_cards on duplicate_clusters using gin (card_ids);

create table duplicate_pairs (
  id uuid primary key,
  card_type text not null,
  left_id uuid not null,
  right_id uuid not null,
  class text not null check (class in ('match', 'possible')),
  -- 0..1: relative to competing pairs, and on its own
  score double precision not null,
  alone double precision not null,
  -- in the order of the aspects of the model; null: a card has no value
  similarities real[] not null,
  bits real[] not null,
  model_id text not null references duplicate_models,
  cluster_id uuid references duplicate_clusters on delete set null,
  check (left_id < right_id)
);
create index duplicate_pairs_type on duplicate_pairs (card_type, score desc);
create index duplicate_pairs_left on duplicate_pairs (left_id);
create index duplicate_pairs_right on duplicate_pairs (right_id);
create index duplicate_pairs_cluster on duplicate_pairs (cluster_id);

-- Decisions outlive runs and cards: precision and recall are computed from them.
create table duplicate_decisions (
  id uuid primary key,
  card_type text not null,
  left_id uuid not null,
  right_id uuid not null,
  decision text not null check (decision in ('confirmed', 'investigating', 'dismissed')),
  -- hashes of the compared values: a decision applies while they are equal
  left_facts text not null,
  right_facts text not null,
  -- the score when it was decided; null: the pair was not among the results
  score double precision,
  -- set by a run when the compared values have changed
  has_lapsed boolean not null default false,
  decided_by uuid references users on delete set null,
  decided_at timestamptz not null default now(),
  check (left_id < right_id)
);
create index duplicate_decisions_type on duplicate_decisions (card_type);
create index duplicate_decisions_left on duplicate_decisions (left_id);
create index duplicate_decisions_right on duplicate_decisions (right_id);
