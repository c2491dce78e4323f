-- The stakeholder roles by which a file's content was read, where no permission shows it.
alter table files add column roles uuid[] not null default '{}';
