import type { Knex } from 'knex';

/** Cards, relations, stakeholders and tags. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What a search for misspelt words looks into: folded words between blanks. Of the other separators those that
    -- occur in names are taken for blanks.
    create function search_text(name_key text, alias text, external_id text) returns text
      language sql immutable parallel safe
      return ' ' || replace(replace(replace(replace(replace(replace(replace(replace(
        name_key || coalesce(' ' || fold(alias), '') || coalesce(' ' || lower(external_id), ''),
        '-', ' '), '/', ' '), '.', ' '), '_', ' '), '(', ' '), ')', ' '), ',', ' '), ':', ' ') || ' ';

    -- Every word that a search finds a card by. Blanks in place of - / . keep compounds, paths and hosts from
    -- being words of their own.
    create function search_words(name_key text, alias text, external_id text, description text) returns tsvector
      language sql immutable parallel safe
      return to_tsvector('pg_catalog.simple'::regconfig, search_text(name_key, alias, external_id) ||
        replace(replace(replace(coalesce(fold(left(description, 20000)), ''), '-', ' '), '/', ' '), '.', ' '));

    create table cards (
      id uuid primary key default uuidv7(),
      type text not null references card_types (key),
      subtype text,
      name text not null,
      -- sort and search form of the name; by bytes, so that a prefix is a range
      name_key text collate "C" not null generated always as (fold(name)) stored,
      alias text,
      description text,
      -- deferred, so that a batch may write children before their parents
      parent_id uuid references cards (id) deferrable initially deferred,
      lifecycle jsonb,
      attributes jsonb not null default '{}',
      status text not null default 'ACTIVE' check (status in ('ACTIVE', 'ARCHIVED')),
      approval_status text not null default 'DRAFT'
        check (approval_status in ('DRAFT', 'APPROVED', 'REJECTED', 'BROKEN')),
      data_quality numeric(4, 1) not null default 0,
      external_id text,
      archived_at timestamptz,
      -- the cards that were archived by one act carry its id
      archive_batch_id uuid,
      created_by uuid,
      updated_by uuid,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index cards_external_id on cards (type, external_id) where external_id is not null;
    create unique index cards_sibling_name on cards
      (type, coalesce(parent_id, '00000000-0000-0000-0000-000000000000'::uuid), md5(lower(name)))
      where status = 'ACTIVE';
    create index cards_parent on cards (parent_id) where parent_id is not null;

    -- One for each sort field of the list, which is walked without visiting the table: the filters' columns ride along.
    create index cards_by_name on cards (name_key, id) include (type, status, approval_status);
    create index cards_by_type on cards (type, id) include (status, approval_status);
    create index cards_by_subtype on cards (coalesce(subtype, ''), id) include (subtype, type, status, approval_status);
    create index cards_by_status on cards (status, id) include (type, approval_status);
    create index cards_by_approval_status on cards (approval_status, id) include (type, status);
    create index cards_by_data_quality on cards (data_quality, id) include (type, status, approval_status);
    create index cards_by_created_at on cards (created_at, id) include (type, status, approval_status);
    create index cards_by_updated_at on cards (updated_at, id) include (type, status, approval_status);

    -- The lists of what is still to be merged into these stay short, since every search reads them as a whole.
    create index cards_search_words on cards using gin (search_words(name_key, alias, external_id, description))
      with (gin_pending_list_limit = 512);
    create index cards_search_text on cards using gin (search_text(name_key, alias, external_id) gin_trgm_ops)
      with (gin_pending_list_limit = 512);
    -- their statistics would take most of the time of an analyze, and queries are planned well without them
    alter index cards_search_words alter column 1 set statistics 0;
    alter index cards_search_text alter column 1 set statistics 0;

    create table relations (
      id uuid primary key default uuidv7(),
      type text not null references relation_types (key),
      source_id uuid not null references cards (id) deferrable initially deferred,
      target_id uuid not null references cards (id) deferrable initially deferred,
      attributes jsonb not null default '{}',
      description text,
      created_by uuid,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index relations_ends on relations (type, source_id, target_id);
    create index relations_by_created_at on relations (created_at, id);
    create index relations_source on relations (source_id, type);
    create index relations_target on relations (target_id, type);

    create table stakeholders (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      user_id uuid not null references users (id) on delete cascade,
      role text not null,
      created_at timestamptz not null default now(),
      unique (card_id, user_id, role)
    );
    create index stakeholders_user on stakeholders (user_id, card_id);

    create table tag_groups (
      id uuid primary key default uuidv7(),
      name text not null,
      description text,
      mode text not null default 'multi' check (mode in ('single', 'multi')),
      mandatory boolean not null default false,
      restrict_to_types jsonb,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index tag_groups_name on tag_groups (lower(name));

    create table tags (
      id uuid primary key default uuidv7(),
      tag_group_id uuid not null references tag_groups (id) on delete cascade,
      name text not null,
      description text,
      color text,
      sort_order integer not null default 0
    );
    create unique index tags_name on tags (tag_group_id, lower(name));

    create table card_tags (
      card_id uuid not null references cards (id) on delete cascade,
      tag_id uuid not null references tags (id) on delete cascade,
      primary key (card_id, tag_id)
    );
    create index card_tags_tag on card_tags (tag_id, card_id);

    -- Orders frozen for a cursor's traversal along values that may change meanwhile; a crash only ends traversals.
    create unlogged table list_snapshots (
      id uuid primary key,
      owner uuid,
      total integer not null,
      used_at timestamptz not null default now()
    );
    create index list_snapshots_owner on list_snapshots (owner, used_at desc);
    create index list_snapshots_used on list_snapshots (used_at);

    create unlogged table list_snapshot_chunks (
      snapshot_id uuid not null references list_snapshots (id) on delete cascade,
      chunk integer not null,
      ids text[] not null,
      primary key (snapshot_id, chunk)
    );
  `);
}
