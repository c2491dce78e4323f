-- The old and new values of imported rows, for reports that contain them.
alter table import_outcomes add column changes jsonb;
