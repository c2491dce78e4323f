-- Fields and types that were read by name over OData, with the last day, by account, or by the token that was used.
create table odata_reads (
  user_id uuid not null references users (id) on delete cascade,
  token_id uuid references api_tokens (id) on delete cascade,
  -- as `field:Application.costTotalAnnual`
  path text not null,
  last_day date not null,
  unique nulls not distinct (user_id, token_id, path)
);
create index odata_reads_day on odata_reads (last_day);
