import type { Knex } from 'knex';

/**
 * Project portfolio management: what hangs on cards of type Initiative. Rows within a plan refer to each other without
 * cascades, so that nothing goes without an event; that is looked at in the end, since a card takes all of them with it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table ppm_reports (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      reporter_id uuid references users (id) on delete set null,
      report_date date not null,
      schedule_health text not null check (schedule_health in ('onTrack', 'atRisk', 'offTrack')),
      cost_health text not null check (cost_health in ('onTrack', 'atRisk', 'offTrack')),
      scope_health text not null check (scope_health in ('onTrack', 'atRisk', 'offTrack')),
      summary text,
      accomplishments text,
      next_steps text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    -- the newest report of a card stands first
    create index ppm_reports_card on ppm_reports (card_id, report_date desc, created_at desc, id desc);
    create index ppm_reports_reporter on ppm_reports (reporter_id);

    create table ppm_cost_lines (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      description text not null,
      category text not null check (category in ('capex', 'opex')),
      planned numeric not null default 0,
      actual numeric not null default 0,
      date date,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index ppm_cost_lines_card on ppm_cost_lines (card_id);

    create table ppm_budget_lines (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      fiscal_year integer not null,
      category text not null check (category in ('capex', 'opex')),
      amount numeric not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index ppm_budget_lines_card on ppm_budget_lines (card_id);

    -- What the lines of a card come to, by the attribute that shows it: only where there are lines; 0 is told as null.
    create function ppm_sums(initiative uuid) returns jsonb language sql stable as $$
      select coalesce(jsonb_object_agg(s.key, s.value), '{}') from (
        select 'costActual' as key, nullif(sum(actual), 0) as value, count(*) as n
        from ppm_cost_lines where card_id = initiative
        union all
        select 'costBudget', nullif(sum(amount), 0), count(*) from ppm_budget_lines where card_id = initiative
      ) s where s.n > 0
    $$;

    create table ppm_risks (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      title text not null,
      description text,
      probability integer not null check (probability between 1 and 5),
      impact integer not null check (impact between 1 and 5),
      mitigation text,
      owner_id uuid references users (id) on delete set null,
      status text not null check (status in ('open', 'mitigating', 'mitigated', 'closed', 'accepted')),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index ppm_risks_card on ppm_risks (card_id);
    create index ppm_risks_owner on ppm_risks (owner_id);

    create table ppm_wbs (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      parent_id uuid references ppm_wbs (id) deferrable initially deferred,
      title text not null,
      description text,
      start_date date,
      end_date date,
      sort_order integer not null default 0,
      is_milestone boolean not null default false,
      -- what somebody has said; what follows from tasks and children is computed when it is read
      completion numeric not null default 0 check (completion between 0 and 100),
      assignee_id uuid references users (id) on delete set null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index ppm_wbs_card on ppm_wbs (card_id);
    create index ppm_wbs_parent on ppm_wbs (parent_id);
    create index ppm_wbs_assignee on ppm_wbs (assignee_id);

    create table ppm_tasks (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      title text not null,
      description text,
      status text not null check (status in ('todo', 'in_progress', 'done', 'blocked')),
      priority text not null check (priority in ('critical', 'high', 'medium', 'low')),
      assignee_id uuid references users (id) on delete set null,
      start_date date,
      due_date date,
      sort_order integer not null default 0,
      tags text[] not null default '{}',
      wbs_id uuid references ppm_wbs (id) deferrable initially deferred,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index ppm_tasks_card on ppm_tasks (card_id);
    create index ppm_tasks_wbs on ppm_tasks (wbs_id);
    create index ppm_tasks_assignee on ppm_tasks (assignee_id);

    create table ppm_task_comments (
      id uuid primary key default uuidv7(),
      -- the task's card, so that comments move and go with it as everything else
      card_id uuid not null references cards (id) on delete cascade,
      task_id uuid not null references ppm_tasks (id) deferrable initially deferred,
      user_id uuid references users (id) on delete set null,
      content text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index ppm_task_comments_card on ppm_task_comments (card_id);
    create index ppm_task_comments_task on ppm_task_comments (task_id);
    create index ppm_task_comments_user on ppm_task_comments (user_id);

    create table ppm_dependencies (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      pred_task_id uuid references ppm_tasks (id) deferrable initially deferred,
      pred_wbs_id uuid references ppm_wbs (id) deferrable initially deferred,
      succ_task_id uuid references ppm_tasks (id) deferrable initially deferred,
      succ_wbs_id uuid references ppm_wbs (id) deferrable initially deferred,
      kind text not null default 'FS' check (kind = 'FS'),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check (num_nonnulls(pred_task_id, pred_wbs_id) = 1),
      check (num_nonnulls(succ_task_id, succ_wbs_id) = 1)
    );
    create unique index ppm_dependencies_ends on ppm_dependencies
      (coalesce(pred_task_id, pred_wbs_id), coalesce(succ_task_id, succ_wbs_id));
    create index ppm_dependencies_card on ppm_dependencies (card_id);
    create index ppm_dependencies_succ on ppm_dependencies (coalesce(succ_task_id, succ_wbs_id));
  `);
}
