import type { Knex } from 'knex';

/** The risk register: risks, the cards that they are about, and what is done about them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table risks (
      id uuid primary key default uuidv7(),
      reference text not null check (reference ~ '^R-[0-9]{6,9}$'),
      title text not null,
      description text not null default '',
      category text not null default 'operational' check (category in
        ('security', 'compliance', 'operational', 'technology', 'financial', 'reputational', 'strategic')),
      source_type text not null default 'manual' check (source_type in ('manual', 'compliance')),
      -- of a promoted finding the regulation's key
      source_ref text,
      initial_probability text not null default 'medium'
        check (initial_probability in ('very_high', 'high', 'medium', 'low')),
      initial_impact text not null default 'medium' check (initial_impact in ('critical', 'high', 'medium', 'low')),
      residual_probability text check (residual_probability in ('very_high', 'high', 'medium', 'low')),
      residual_impact text check (residual_impact in ('critical', 'high', 'medium', 'low')),
      -- people stay named by their ids, as elsewhere; who is deleted owns nothing any more
      owner_id uuid,
      target_resolution_date date,
      status text not null default 'identified' check (status in
        ('identified', 'analysed', 'mitigation_planned', 'in_progress', 'mitigated', 'monitoring', 'accepted', 'closed')),
      acceptance_rationale text,
      accepted_by uuid,
      accepted_at timestamptz,
      created_by uuid,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index risks_reference on risks (reference);
    -- the highest number
    create index risks_number on risks ((substr(reference, 3)::integer));
    create index risks_updated on risks (updated_at, id);
    create index risks_created on risks (created_at, id);
    create index risks_owner on risks (owner_id) where owner_id is not null;

    create table risk_cards (
      id uuid primary key default uuidv7(),
      -- no cascade: what is linked goes with an event of its own
      risk_id uuid not null references risks (id),
      card_id uuid not null references cards (id) on delete cascade,
      role text not null default 'affected' check (role in ('affected', 'contributing', 'owner_of_control')),
      created_at timestamptz not null default now()
    );
    create unique index risk_cards_once on risk_cards (risk_id, card_id);
    create index risk_cards_card on risk_cards (card_id);

    create table risk_mitigation_tasks (
      id uuid primary key default uuidv7(),
      reference text not null check (reference ~ '^T-[0-9]{6,9}$'),
      risk_id uuid not null references risks (id),
      title text not null,
      description text,
      owner_id uuid,
      recurrence_unit text not null default 'none'
        check (recurrence_unit in ('none', 'days', 'weeks', 'months', 'years')),
      recurrence_interval integer not null default 1,
      lead_time_days integer not null default 0,
      is_active boolean not null default true,
      created_by uuid,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index risk_mitigation_tasks_reference on risk_mitigation_tasks (reference);
    create index risk_mitigation_tasks_number on risk_mitigation_tasks ((substr(reference, 3)::integer));
    create index risk_mitigation_tasks_risk on risk_mitigation_tasks (risk_id);
    create index risk_mitigation_tasks_created on risk_mitigation_tasks (created_at, id);
    create index risk_mitigation_tasks_owner on risk_mitigation_tasks (owner_id) where owner_id is not null;

    create table risk_mitigation_occurrences (
      id uuid primary key default uuidv7(),
      task_id uuid not null references risk_mitigation_tasks (id),
      sequence integer not null,
      assigned_owner_id uuid,
      due_date date,
      status text not null check (status in ('scheduled', 'open', 'done', 'skipped')),
      -- the day of the month that the series keeps to, also after a shorter month
      recurrence_day smallint,
      activated_at timestamptz,
      completed_at timestamptz,
      completed_by uuid,
      owner_at_completion uuid,
      completion_notes text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index risk_mitigation_occurrences_sequence on risk_mitigation_occurrences (task_id, sequence);
    -- of a task one is waited for at a time
    create unique index risk_mitigation_occurrences_pending on risk_mitigation_occurrences (task_id)
      where status in ('scheduled', 'open');
    create index risk_mitigation_occurrences_due on risk_mitigation_occurrences (due_date)
      where status = 'scheduled';
    create index risk_mitigation_occurrences_owner on risk_mitigation_occurrences (assigned_owner_id)
      where assigned_owner_id is not null;

    create index compliance_findings_risk on compliance_findings (risk_id) where risk_id is not null;
    -- events that show in the histories of several cards
    create index events_cards on events using gin ((data -> 'card_ids')) where data \\? 'card_ids';
  `);
}
