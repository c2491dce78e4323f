-- The users of `shared_with` who may also change the report, by their ids.
alter table saved_reports add column editors jsonb not null default '[]';
