-- Governance: principles, compliance, risks, decisions, statements of architecture work, surveys, end of life.

create table principles (
  id uuid primary key default uuidv7(),
  title text not null,
  description text,
  rationale text not null default '',
  implications text not null default '',
  is_active boolean not null default true,
  sort_order integer not null default 0,
  -- the id in the reference catalogue, if it was taken from there
  catalogue_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- A principle of the catalogue is adopted once.
create unique index principles_catalogue on principles (catalogue_id) where catalogue_id is not null;

create table compliance_regulations (
  id uuid primary key default uuidv7(),
  key text not null constraint compliance_regulations_key unique,
  label text not null,
  description text,
  is_enabled boolean not null default true,
  built_in boolean not null default false,
  sort_order integer not null default 0,
  translations jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
insert into compliance_regulations (key, label, sort_order, built_in) values
  ('eu_ai_act', 'EU AI Act (Regulation (EU) 2024/1689)', 10, true),
  ('gdpr', 'GDPR (Regulation (EU) 2016/679)', 20, true),
  ('nis2', 'NIS2 Directive (Directive (EU) 2022/2555)', 30, true),
  ('dora', 'DORA (Regulation (EU) 2022/2554)', 40, true),
  ('soc2', 'SOC 2 (Trust Services Criteria)', 50, true),
  ('iso27001', 'ISO/IEC 27001:2022', 60, true);

create table compliance_findings (
  id uuid primary key default uuidv7(),
  -- the scan that found it first; null for one that a person entered
  run_id uuid,
  -- key of a regulation; stays when the regulation is deleted
  regulation text not null,
  regulation_article text,
  -- the rule that found it; null for one that a person entered
  rule_key text,
  -- null for one about the whole landscape
  card_id uuid references cards (id) on delete cascade,
  category text not null default '',
  requirement text not null,
  status text not null
    check (status in ('compliant', 'partial', 'non_compliant', 'not_applicable', 'review_needed')),
  severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  gap_description text not null default '',
  evidence text,
  remediation text,
  ai_detected boolean not null default false,
  risk_id uuid,
  decision text not null default 'new' check (decision in
    ('new', 'in_review', 'mitigated', 'verified', 'accepted', 'not_applicable', 'risk_tracked')),
  reviewed_by uuid,
  reviewed_at timestamptz,
  review_note text,
  auto_resolved boolean not null default false,
  -- of a resolved finding: the last scan that found it. All others were found by the last scan of their regulation
  last_seen_run_id uuid,
  -- columns edited by a person, which scans do not change
  edited text[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index compliance_findings_created on compliance_findings (created_at, id);
create index compliance_findings_card on compliance_findings (card_id);
-- Not unique: after a merge the survivor may have two findings of one rule; scans update one of them.
create index compliance_findings_rule on compliance_findings (regulation, rule_key, card_id);
create index compliance_findings_risk on compliance_findings (risk_id) where risk_id is not null;

-- The last complete scan of each regulation.
create table compliance_scanned (
  regulation text primary key,
  run_id uuid not null,
  scanned_at timestamptz not null default now()
);

create table compliance_readings (
  regulation text not null,
  rule_key text not null,
  card_id uuid not null,
  -- hash of the card texts, the rule and the model; while it is equal the model is not asked again
  digest text not null,
  applies boolean not null,
  -- if it applies: the quoted text of the card, and the reason of the model
  quote text,
  reason text,
  read_at timestamptz not null default now(),
  primary key (regulation, rule_key, card_id)
);

create table risks (
  id uuid primary key default uuidv7(),
  reference text not null check (reference ~ '^R-[0-9]{6,9}$'),
  title text not null,
  description text not null default '',
  category text not null default 'operational' check (category in
    ('security', 'compliance', 'operational', 'technology', 'financial', 'reputational', 'strategic')),
  source_type text not null default 'manual' check (source_type in ('manual', 'compliance')),
  -- of a promoted finding: key of the regulation
  source_ref text,
  initial_probability text not null default 'medium'
    check (initial_probability in ('very_high', 'high', 'medium', 'low')),
  initial_impact text not null default 'medium' check (initial_impact in ('critical', 'high', 'medium', 'low')),
  residual_probability text check (residual_probability in ('very_high', 'high', 'medium', 'low')),
  residual_impact text check (residual_impact in ('critical', 'high', 'medium', 'low')),
  -- no reference: the ids of deleted users stay
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
-- For the next reference.
create index risks_number on risks ((substr(reference, 3)::integer));
create index risks_updated on risks (updated_at, id);
create index risks_created on risks (created_at, id);
create index risks_owner on risks (owner_id) where owner_id is not null;

create table risk_cards (
  id uuid primary key default uuidv7(),
  -- no cascade: unlinking records an event
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
  -- the day of the month of the series, also after a shorter month
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
-- A task has one pending occurrence at a time.
create unique index risk_mitigation_occurrences_pending on risk_mitigation_occurrences (task_id)
  where status in ('scheduled', 'open');
create index risk_mitigation_occurrences_due on risk_mitigation_occurrences (due_date)
  where status = 'scheduled';
create index risk_mitigation_occurrences_owner on risk_mitigation_occurrences (assigned_owner_id)
  where assigned_owner_id is not null;

create table adrs (
  id uuid primary key default uuidv7(),
  -- the 7 of ADR-007; equal in all revisions of a decision
  number integer not null,
  title text not null,
  -- Markdown, like the texts below
  context text,
  decision_drivers text,
  alternatives_considered text,
  pros_and_cons text,
  decision text,
  consequences text,
  confirmation text,
  more_information text,
  -- arrays of text: numbers, ids or addresses of other decisions; people and groups as in MADR
  related_decisions jsonb not null default '[]',
  decision_makers jsonb not null default '[]',
  consulted jsonb not null default '[]',
  informed jsonb not null default '[]',

  status text not null default 'draft',
  revision_number integer not null default 1,
  -- the revision before; it may be deleted
  parent_id uuid,
  -- the first revision; its own id there
  series_id uuid not null,
  -- [{user_id, status, signed_at, content_hash}] in the order of the request
  signatories jsonb not null default '[]',
  -- {user_id, comment, rejected_at} of the rejection that returned it to draft
  rejection jsonb,
  signed_at timestamptz,
  -- SHA-256 of the signed content, set by the last signature
  content_hash text,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (status in ('draft', 'in_review', 'signed')),
  unique (number, revision_number)
);
create index adrs_created on adrs (created_at, id);
create index adrs_series on adrs (series_id, revision_number);
create index adrs_signatories on adrs using gin (signatories jsonb_path_ops);

create table adr_cards (
  id uuid primary key default uuidv7(),
  adr_id uuid not null references adrs (id) on delete cascade,
  card_id uuid not null references cards (id) on delete cascade,
  created_by uuid,
  created_at timestamptz not null default now(),
  unique (adr_id, card_id)
);
create index adr_cards_card on adr_cards (card_id);

create table soaws (
  id uuid primary key default uuidv7(),
  name text not null,
  initiative_id uuid references cards (id) on delete set null,
  -- {prepared_by, review_date, reviewed_by}
  document_info jsonb not null default '{}',
  -- [{version, date, revised_by, description}]
  version_history jsonb not null default '[]',
  -- {"1.1": {content, hidden, table_data, togaf_data}}
  sections jsonb not null default '{}',

  status text not null default 'draft',
  revision_number integer not null default 1,
  -- the revision before; it may be deleted
  parent_id uuid,
  -- the first revision; its own id there
  series_id uuid not null,
  -- [{user_id, status, signed_at, content_hash}] in the order of the request
  signatories jsonb not null default '[]',
  -- {user_id, comment, rejected_at} of the rejection that returned it to draft
  rejection jsonb,
  signed_at timestamptz,
  -- SHA-256 of the signed content, set by the last signature
  content_hash text,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (status in ('draft', 'in_review', 'approved', 'signed')),
  unique (series_id, revision_number)
);
create index soaws_created on soaws (created_at, id);
create index soaws_initiative on soaws (initiative_id) where initiative_id is not null;
create index soaws_signatories on soaws using gin (signatories jsonb_path_ops);

-- The text of a document whose values are HTML, for search.
create function document_words(document jsonb) returns text language sql immutable parallel safe as $$
  select coalesce(string_agg(replace(replace(replace(replace(
      regexp_replace(
        regexp_replace(v #>> '{}', '</{0,1}(a|b|code|em|i|mark|s|small|span|strong|sub|sup|u)( [^>]*){0,1}>', '', 'g'),
        '(<[^>]*>|[[:space:]])+', ' ', 'g'),
      '&lt;', '<'), '&gt;', '>'), '&quot;', '"'), '&amp;', '&'), ' '), '')
  from jsonb_path_query(document, 'strict $.** ? (@.type() == "string")') v
$$;

create table surveys (
  id uuid primary key default uuidv7(),
  name text not null,
  description text,
  message text not null default '',
  status text not null default 'draft' check (status in ('draft', 'active', 'closed')),
  target_type_key text not null,
  target_filters jsonb not null default '{}',
  -- keys of stakeholder roles
  target_roles jsonb not null default '[]',
  -- the fields as they were when the survey was saved or, once sent, when it was sent
  fields jsonb not null default '[]',
  created_by uuid,
  sent_at timestamptz,
  closed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index surveys_created on surveys (created_at, id);

-- One for each asked user and card. After a merge a user may have two for the survivor.
create table survey_responses (
  id uuid primary key default uuidv7(),
  -- no cascade: a survey with answers cannot be deleted
  survey_id uuid not null references surveys (id),
  card_id uuid not null references cards (id) on delete cascade,
  -- no reference: stays when the user is deleted
  user_id uuid not null,
  status text not null default 'pending' check (status in ('pending', 'completed')),
  -- {field: {current_value, new_value, confirmed}}
  responses jsonb not null default '{}',
  -- the fields that were costs when the answer was given
  cost_keys text[] not null default '{}',
  applied boolean not null default false,
  responded_at timestamptz,
  applied_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index survey_responses_survey on survey_responses (survey_id, card_id, user_id);
create index survey_responses_card on survey_responses (card_id);
create index survey_responses_user on survey_responses (user_id, status);

create table eol_products (
  name text primary key,
  label text not null,
  category text,
  aliases text[] not null default '{}',
  link text,
  source text not null check (source in ('api', 'file', 'bundled')),
  -- hash of the facts, so that unchanged facts are not written
  digest text not null,
  -- validators of the last response, for conditional requests
  etag text,
  last_modified text,
  -- when the source last confirmed the facts, and when they last changed
  checked_at timestamptz not null,
  changed_at timestamptz not null
);

-- Without a date, the flag beside it says whether the phase has ended (or, for lts, applies).
create table eol_cycles (
  product text not null references eol_products (name) on delete cascade,
  cycle text not null,
  codename text,
  release_date date,
  support_until date,
  is_supported boolean,
  eol_from date,
  is_eol boolean,
  lts_from date,
  is_lts boolean,
  discontinued_from date,
  is_discontinued boolean,
  latest text,
  latest_release_date date,
  link text,
  primary key (product, cycle)
);
