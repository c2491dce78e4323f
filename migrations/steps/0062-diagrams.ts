import type { Knex } from 'knex';

/** Diagrams with what is drawn in them, the cards that are linked to them, groups of diagrams, and who has starred them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What is drawn, by the fingerprint of its content: never changed, so that events name it instead of telling it.
    create table diagram_drawings (
      id text primary key,
      xml text not null,
      -- the cards that it names, and by id the names that they had when it was saved (null: there was none)
      card_ids uuid[] not null,
      card_names jsonb not null,
      -- whether some cell says that its card is archived or deleted
      marked boolean not null,
      -- since when no diagram shows it
      left_at timestamptz
    );
    create index diagram_drawings_cards on diagram_drawings using gin (card_ids);
    create index diagram_drawings_left on diagram_drawings (left_at) where left_at is not null;

    create table diagrams (
      id uuid primary key default uuidv7(),
      name text not null,
      description text,
      drawing text not null references diagram_drawings (id),
      thumbnail text,
      -- what a client keeps of how it shows the diagram
      settings jsonb not null default '{}',
      group_ids uuid[] not null default '{}',
      created_by uuid references users (id) on delete set null,
      -- its maker, where nobody else sees it
      private_to uuid references users (id) on delete cascade,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    );
    create index diagrams_updated on diagrams (updated_at, id);
    create index diagrams_created on diagrams (created_at, id);
    create index diagrams_drawing on diagrams (drawing);
    create index diagrams_groups on diagrams using gin (group_ids);
    create index diagrams_created_by on diagrams (created_by);
    create index diagrams_private_to on diagrams (private_to);

    create table diagram_cards (
      id uuid primary key default uuidv7(),
      diagram_id uuid not null references diagrams (id) on delete cascade,
      card_id uuid not null references cards (id) on delete cascade,
      -- who has linked it
      user_id uuid references users (id) on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      unique (diagram_id, card_id)
    );
    create index diagram_cards_card on diagram_cards (card_id);
    create index diagram_cards_user on diagram_cards (user_id);

    create table diagram_favorites (
      id uuid primary key default uuidv7(),
      user_id uuid not null references users (id) on delete cascade,
      diagram_id uuid not null references diagrams (id) on delete cascade,
      created_at timestamptz not null default clock_timestamp(),
      unique (user_id, diagram_id)
    );
    create index diagram_favorites_diagram on diagram_favorites (diagram_id);

    create table diagram_groups (
      id uuid primary key default uuidv7(),
      name text not null,
      color text,
      sort_order integer not null default 0,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    );
    create unique index diagram_groups_name on diagram_groups (lower(name));
  `);
}
