-- Rows that create or rename an active card, and the warnings of imported rows.
alter table import_card_plan add column named boolean not null default false;
create table import_warnings (
  job_id uuid not null,
  line integer not null,
  warnings jsonb not null,
  primary key (job_id, line)
);
