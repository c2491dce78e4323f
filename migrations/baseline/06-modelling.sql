-- Modelling: processes, project portfolios, diagrams.

-- Contents of diagrams and flows, by hash; never changed.
create table process_contents (
  -- SHA-256 of the encoding and the bytes, hexadecimal
  id text primary key,
  kind text not null check (kind in ('bpmn', 'svg')),
  -- with its byte order mark, if it has one
  text text not null,
  -- the bytes as received, unless they equal the text in UTF-8
  original bytea,
  encoding text not null default 'utf-8',
  -- in bytes
  size integer not null,
  -- warnings of the parser, as texts
  warnings jsonb not null default '[]',
  -- SVG drawn from the diagram interchange; null without one
  picture text,
  -- when it was last stored; unused contents are deleted some time later
  used_at timestamptz not null default now()
);

create table process_content_elements (
  id uuid primary key default uuidv7(),
  content_id text not null references process_contents on delete cascade,
  bpmn_element_id text not null,
  sequence_order integer not null,
  element_type text not null,
  name text not null,
  documentation text,
  lane_name text,
  pool_name text,
  -- the enclosing subprocess
  parent_element_id text,
  is_automated boolean not null,
  next_element_ids text[] not null default '{}',
  unique (content_id, bpmn_element_id)
);

create table process_diagrams (
  id uuid primary key default uuidv7(),
  process_id uuid not null references cards (id) on delete cascade,
  -- the process for which it was saved: after a merge one card has the diagrams of several processes
  lineage_id uuid not null,
  version integer not null,
  content_id text not null references process_contents,
  thumbnail_id text references process_contents,
  created_by uuid,
  created_at timestamptz not null default now()
);
-- The first row is the current diagram: diagrams of the card itself come before those of merged cards.
create unique index process_diagrams_current
  on process_diagrams (process_id, (lineage_id = process_id) desc, version desc, lineage_id);
create index process_diagrams_content on process_diagrams (content_id);
create index process_diagrams_thumbnail on process_diagrams (thumbnail_id);

create table process_flow_versions (
  id uuid primary key default uuidv7(),
  process_id uuid not null references cards (id) on delete cascade,
  status text not null default 'draft' check (status in ('draft', 'pending', 'published', 'archived')),
  revision integer not null,
  content_id text not null references process_contents,
  thumbnail_id text references process_contents,
  -- no reference: stays when that version is deleted
  based_on_id uuid,
  created_by uuid,
  created_at timestamptz not null default now(),
  submitted_by uuid,
  submitted_at timestamptz,
  approved_by uuid,
  approved_at timestamptz,
  archived_at timestamptz,
  updated_at timestamptz not null default now()
);
create index process_flow_versions_process on process_flow_versions (process_id, status, revision);
create index process_flow_versions_content on process_flow_versions (content_id);
create index process_flow_versions_thumbnail on process_flow_versions (thumbnail_id);
create index process_flow_versions_pending on process_flow_versions (process_id) where status = 'pending';

-- Links of elements to cards, by the id of the element in the model.
create table process_element_links (
  id uuid primary key default uuidv7(),
  process_id uuid not null references cards (id) on delete cascade,
  lineage_id uuid not null,
  -- the flow version that contains it as a draft; null for links in force
  flow_version_id uuid references process_flow_versions on delete cascade,
  bpmn_element_id text not null,
  application_id uuid references cards (id) on delete set null,
  data_object_id uuid references cards (id) on delete set null,
  it_component_id uuid references cards (id) on delete set null,
  custom_fields jsonb,
  -- relations that were created for the links and are deleted with the last of them
  relation_ids uuid[] not null default '{}',
  updated_at timestamptz not null default now()
);
create unique index process_element_links_live on process_element_links (lineage_id, bpmn_element_id)
  where flow_version_id is null;
create unique index process_element_links_planned on process_element_links (flow_version_id, bpmn_element_id)
  where flow_version_id is not null;
create index process_element_links_process on process_element_links (process_id);
create index process_element_links_application on process_element_links (application_id)
  where application_id is not null;
create index process_element_links_data_object on process_element_links (data_object_id)
  where data_object_id is not null;
create index process_element_links_it_component on process_element_links (it_component_id)
  where it_component_id is not null;

create table process_assessments (
  id uuid primary key default uuidv7(),
  process_id uuid not null references cards (id) on delete cascade,
  assessor_id uuid,
  assessment_date date not null,
  overall_score integer not null check (overall_score between 1 and 5),
  efficiency integer not null check (efficiency between 1 and 5),
  effectiveness integer not null check (effectiveness between 1 and 5),
  compliance integer not null check (compliance between 1 and 5),
  automation integer not null check (automation between 1 and 5),
  notes text,
  action_items jsonb not null default '[]',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index process_assessments_process on process_assessments (process_id, assessment_date);

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
-- The newest report of a card comes first.
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

-- The totals of the cost and budget lines of a card, by attribute; only attributes that have lines, and null for 0.
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
  -- as entered; completion derived from tasks and children is computed on read
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
  -- the card of the task, so that comments are moved and deleted with the card
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

-- Drawings by hash of their content; never changed, so that events name them instead of containing them.
create table diagram_drawings (
  id text primary key,
  xml text not null,
  -- the cards in the drawing, and their names when it was saved, by id (null: no such card)
  card_ids uuid[] not null,
  card_names jsonb not null,
  -- whether a cell marks its card as archived or deleted
  marked boolean not null,
  -- when the last diagram that used it was changed or deleted
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
  -- display settings of clients
  settings jsonb not null default '{}',
  group_ids uuid[] not null default '{}',
  created_by uuid references users (id) on delete set null,
  -- the creator of a private diagram; null: visible to others
  private_to uuid references users (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- [{user_id, can_edit}]; applies to private diagrams only
  shared_with jsonb not null default '[]'
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
  -- the user who linked it
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
