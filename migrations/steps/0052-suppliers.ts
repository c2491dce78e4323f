import type { Knex } from 'knex';

/**
 * What analyses find about suppliers and about what should be modernised. None of it is anybody's input: the next run makes it
 * anew. Cards are named without a reference: what names a card that is gone is not read, and goes with the next run.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table suppliers (
      id uuid primary key default uuidv7(),
      canonical_name text not null,
      vendor_type text not null check (vendor_type in ('vendor', 'partner', 'internal', 'product')),
      -- the supplier that it belongs to, of a product the one that supplies it
      parent_id uuid references suppliers on delete set null,
      parent_reason text,
      -- the top of the hierarchy, whether it is among the suppliers or not
      group_name text not null,
      -- of a product: by what it is known again
      product_key text,
      -- of the least sure of its names
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

    -- The cards that a supplier, or a product, stands behind.
    create table supplier_cards (
      supplier_id uuid not null references suppliers on delete cascade,
      card_id uuid not null,
      -- provider: the card is the supplier; supplied: it supplies the card
      role text not null check (role in ('provider', 'supplied')),
      -- how many suppliers share the costs of the card
      shared_by int not null default 1 check (shared_by > 0),
      primary key (supplier_id, card_id, role)
    );
    create index supplier_cards_card on supplier_cards (card_id);

    create table modernizations (
      id uuid primary key default uuidv7(),
      run_id uuid not null,
      -- what the lists show: those of the last run that came to its end
      is_current boolean not null default false,
      target_type text not null,
      card_id uuid not null,
      modernization_type text not null,
      current_tech text not null,
      recommendation text not null,
      effort text not null check (effort in ('low', 'medium', 'high')),
      -- 0 to 100; costs may not be told from what is shown to those who may not see them
      score numeric(5, 1) not null,
      score_without_costs numeric(5, 1) not null,
      -- [{factor, points, reason}], the most points first
      reasons jsonb not null,
      dependants int not null,
      status text not null default 'pending' check (status in ('pending', 'accepted', 'dismissed')),
      analysed_at timestamptz not null default now(),
      unique (run_id, card_id)
    );
    create index modernizations_current on modernizations (target_type, score desc) where is_current;
  `);
}
