import type { Knex } from 'knex';

/** Card types, relation types and the stakeholder roles of each card type. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table card_types (
      key text primary key,
      label text not null,
      description text,
      icon text not null default 'category',
      color text not null default '#1976d2',
      category text,
      has_hierarchy boolean not null default false,
      has_successors boolean not null default false,
      subtypes jsonb not null default '[]',
      fields_schema jsonb not null default '[]',
      section_config jsonb not null default '{}',
      built_in boolean not null default false,
      is_hidden boolean not null default false,
      sort_order integer not null default 0,
      translations jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table relation_types (
      key text primary key,
      label text not null,
      reverse_label text,
      description text,
      source_type_key text not null references card_types (key),
      target_type_key text not null references card_types (key),
      cardinality text not null default 'n:m' check (cardinality in ('1:1', '1:n', 'n:m')),
      attributes_schema jsonb not null default '[]',
      source_visible boolean not null default true,
      source_mandatory boolean not null default false,
      target_visible boolean not null default true,
      target_mandatory boolean not null default false,
      built_in boolean not null default false,
      is_hidden boolean not null default false,
      sort_order integer not null default 0,
      translations jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table stakeholder_role_definitions (
      id uuid primary key default uuidv7(),
      card_type_key text not null references card_types (key) on delete cascade,
      key text not null,
      label text not null,
      description text,
      color text not null default '#757575',
      permissions jsonb not null default '{}',
      is_archived boolean not null default false,
      sort_order integer not null default 0,
      translations jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      archived_at timestamptz,
      archived_by uuid,
      unique (card_type_key, key)
    );
  `);
}
