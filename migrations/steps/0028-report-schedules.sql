-- Schedules of saved reports, besides those of exports.
alter table extraction_schedules
  alter column request drop not null,
  -- the saved report and its format
  add column report jsonb,
  -- the digest of the saved report's content as the owner has seen it
  add column report_digest text,
  add constraint extraction_schedules_content check (num_nonnulls(request, report) = 1);
-- the key figures that were sent, with which the next ones are compared
alter table extraction_runs add column figures jsonb;
