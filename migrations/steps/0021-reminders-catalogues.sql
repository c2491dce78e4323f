-- When a user was last reminded of surveys, so that nobody is reminded twice a day.
create table survey_reminders (
  user_id uuid primary key references users (id) on delete cascade,
  reminded_at timestamptz not null
);
-- Where a loaded catalogue was published.
alter table reference_catalogues add column url text;
