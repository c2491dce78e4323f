-- A row whose write was sent, and whose result is not recorded yet, is `started`.
alter table itsm_plan_rows drop constraint itsm_plan_rows_progress_check;
update itsm_plan_rows set progress = 'started' where progress = 'begun';
alter table itsm_plan_rows add constraint itsm_plan_rows_progress_check
  check (progress in ('pending', 'started', 'applied', 'stale', 'refused', 'skipped'));
