-- Batches whose id the client has chosen, for one action of its user that needs several requests.
alter table mutation_batches add column by_client boolean not null default false;
