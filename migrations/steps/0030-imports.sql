-- The tags that the batch of a row has created with it.
alter table import_outcomes add column created_tags jsonb;

-- Rows of a migration that others refer to by the external id, beside an id of their own.
create index migration_records_external_id on migration_records
  (migration_id, card_type_key, lower(payload ->> 'external_id'))
  where entity_kind = 'card';
