import type { Knex } from 'knex';

/** What was found of cards that stand for one thing, what people decided of it, and what the next run builds on. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- versions of what runs have learned, by the fingerprint of their content
    create table duplicate_models (
      id text primary key,
      card_type text not null,
      -- fields with how they are compared
      fields jsonb not null,
      -- bits by aspect, and those of any pair
      weights jsonb not null,
      learned_at timestamptz not null default now()
    );

    -- by card type: the model that is applied, and the last run's snapshot
    create table duplicate_states (
      card_type text primary key,
      run_id uuid not null,
      model_id text not null references duplicate_models,
      -- decisions change what was learned of the records alone
      base_model bytea not null,
      snapshot bytea not null,
      figures jsonb not null,
      found_at timestamptz not null
    );

    -- what a run has found so far, so that it can go on after its worker's end
    create table duplicate_parts (
      run_id uuid not null references analysis_runs on delete cascade,
      card_type text not null,
      stage text not null,
      content bytea not null,
      primary key (run_id, card_type, stage)
    );

    -- follows from the ids of its cards, as that of a pair does
    create table duplicate_clusters (
      id uuid primary key,
      card_type text not null,
      card_ids uuid[] not null,
      status text not null default 'pending' check (status in ('pending', 'confirmed', 'investigating', 'dismissed')),
      -- 0..1: what binds each card to the others on average
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
      -- 0..1, beside its rivals and alone
      score double precision not null,
      alone double precision not null,
      -- in the order of the model's aspects; null: one of them says nothing
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

    -- outlive runs, and the cards that they are about: precision and recall are told by them
    create table duplicate_decisions (
      id uuid primary key,
      card_type text not null,
      left_id uuid not null,
      right_id uuid not null,
      decision text not null check (decision in ('confirmed', 'investigating', 'dismissed')),
      -- fingerprints of what both cards said of themselves: a decision holds for as long as they say it
      left_facts text not null,
      right_facts text not null,
      -- as it was when it was decided; null: it was not among what was found
      score double precision,
      -- found by a run: one of the cards says something else by now
      has_lapsed boolean not null default false,
      decided_by uuid references users on delete set null,
      decided_at timestamptz not null default now(),
      check (left_id < right_id)
    );
    create index duplicate_decisions_type on duplicate_decisions (card_type);
    create index duplicate_decisions_left on duplicate_decisions (left_id);
    create index duplicate_decisions_right on duplicate_decisions (right_id);
  `);
}
