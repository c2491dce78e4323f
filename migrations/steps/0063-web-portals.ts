import type { Knex } from 'knex';

/** Web portals: what of one card type the public sees, by the portal's slug. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table web_portals (
      id uuid primary key default uuidv7(),
      name text not null,
      slug text not null,
      description text,
      -- no reference: a portal outlives its type, and shows nothing then
      card_type text not null,
      -- which active cards of the type are shown
      filters jsonb not null default '{}',
      -- all that is shown of a card besides its name
      display_fields jsonb not null default '[]',
      -- how it is shown
      card_config jsonb not null default '{}',
      is_published boolean not null default false,
      created_by uuid references users (id) on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    );
    create unique index web_portals_slug on web_portals (slug);
    create index web_portals_created on web_portals (created_at, id);
    create index web_portals_created_by on web_portals (created_by);
  `);
}
