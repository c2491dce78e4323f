import type { Knex } from 'knex';

/**
 * Merges of cards: what each did, so that it can be undone, and where the ids of merged cards lead. And the index by which
 * filters find cards with a value of an attribute.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- its list of what is still to be merged in stays short, since every filter reads it as a whole
    create index cards_attributes on cards using gin (attributes jsonb_path_ops) with (gin_pending_list_limit = 512);

    create table card_merges (
      id uuid primary key default uuidv7(),
      -- not references: both outlive the cards
      survivor_id uuid not null,
      card_type text not null,
      -- the merged cards, as lists name them
      merged jsonb not null,
      -- what was moved, changed and removed
      journal jsonb not null,
      created_by uuid,
      created_at timestamptz not null default now(),
      undone_by uuid,
      undone_at timestamptz
    );
    create index card_merges_created on card_merges (created_at, id);
    create index card_merges_survivor on card_merges (survivor_id);

    -- One step: the card that it leads to may itself have been merged later.
    create table card_redirects (
      card_id uuid primary key,
      survivor_id uuid not null,
      merge_id uuid not null references card_merges (id) on delete cascade
    );
    create index card_redirects_survivor on card_redirects (survivor_id);
    create index card_redirects_merge on card_redirects (merge_id);
  `);
}
