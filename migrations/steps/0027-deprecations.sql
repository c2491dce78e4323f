-- Since when a type is deprecated and from which day on it may be removed; fields and options have the same member.
alter table card_types add column deprecation jsonb;
alter table relation_types add column deprecation jsonb;
-- Which owners of objects that use a deprecated part were notified, and reminded before its removal.
create table deprecation_notices (
  user_id uuid not null references users (id) on delete cascade,
  -- as `field:Application.costTotalAnnual`
  path text not null,
  removal date not null,
  announced_on date not null,
  reminded_on date,
  primary key (user_id, path, removal)
);
create index deprecation_notices_removal on deprecation_notices (removal);
update topic_versions set version = version + 1 where topic = 'metamodel';
