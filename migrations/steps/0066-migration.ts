import type { Knex } from 'knex';

/**
 * Migrations from other tools: each with the rows of its file as they stand there, and the records that were made of them.
 * Records go with their migration; the cards that it made stay.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table migrations (
      id uuid primary key default uuidv7(),
      name text not null,
      source_type text not null,
      status text not null default 'uploaded'
        check (status in ('uploaded', 'parsed', 'previewed', 'applying', 'applied')),
      file_id uuid not null,
      file_name text not null,
      file_hash text not null,
      file_size bigint not null,
      include_archived boolean not null default false,
      snapshot_version text,
      -- the blocks of the file with their columns: {native_type, rows, columns: [...]}
      blocks jsonb not null default '[]',
      stats jsonb,
      metamodel_diff jsonb,
      -- as saved: {native type: {column: target}}; null until somebody does
      field_mappings jsonb,
      error_message text,
      -- the job that has it in hand, or had it last
      job_id uuid,
      created_by uuid references users (id) on delete set null,
      parsed_at timestamptz,
      previewed_at timestamptz,
      applied_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    -- one file is staged once for each source
    create unique index migrations_file on migrations (source_type, file_hash);
    create index migrations_created on migrations (created_at, id);
    create index migrations_creator on migrations (created_by) where created_by is not null;

    create table migration_rows (
      migration_id uuid not null references migrations (id) on delete cascade,
      line integer not null,
      sheet text not null,
      "row" integer not null,
      native_type text not null,
      -- by column: texts, also of numbers, days and truth values; empty cells are left out
      cells jsonb not null,
      primary key (migration_id, line)
    );

    create table migration_records (
      migration_id uuid not null references migrations (id) on delete cascade,
      -- from 1: cards have the line of their row, all else follows
      line integer not null,
      id uuid not null default uuidv7(),
      entity_kind text not null check (entity_kind in ('metamodel_type', 'metamodel_field', 'metamodel_relation_type',
        'user', 'tag_group', 'tag', 'card', 'relation', 'subscription', 'document', 'comment', 'card_tag')),
      source_id text not null,
      source_type text not null,
      card_type_key text,
      display_name text,
      action text not null default 'create' check (action in ('create', 'update', 'skip', 'conflict')),
      status text not null default 'pending' check (status in ('pending', 'applied', 'error')),
      diff jsonb,
      -- members of diff that hold costs
      cost_keys text[] not null default '{}',
      error_message text,
      target_id uuid,
      sheet text,
      "row" integer,
      -- values that were left out: [{field, code, message}]
      left_out jsonb,
      -- of a card: its row for the import
      payload jsonb,
      -- of a card: what its cells name, to be looked up among the others
      refs jsonb,
      -- of a card: its name with the names above it, in small letters
      path text,
      -- of a card its parent's record, of a relation the ends' records or cards, of what hangs on a card its record
      relation_type text,
      source_line integer,
      source_card uuid,
      target_line integer,
      target_card uuid,
      primary key (migration_id, line)
    );
    create unique index migration_records_id on migration_records (id);
    create index migration_records_list on migration_records (migration_id, entity_kind, line);
    create index migration_records_key on migration_records (migration_id, card_type_key, lower(source_id))
      where entity_kind = 'card';
    create index migration_records_name on migration_records (migration_id, card_type_key, lower(display_name))
      where entity_kind = 'card';
    create index migration_records_path on migration_records (migration_id, card_type_key, path)
      where entity_kind = 'card' and path is not null;
    create index migration_records_ends on migration_records (migration_id, source_line) where source_line is not null;
  `);
}
