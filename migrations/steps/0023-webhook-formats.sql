-- The form of the deliveries of a webhook.
alter table webhooks add column format text not null default 'estate'
  check (format in ('estate', 'standard', 'cloudevents'));
