-- deliveries are claimed by webhook
create index webhook_deliveries_next on webhook_deliveries (webhook_id, next_attempt_at, id) where status = 'pending';
drop index webhook_deliveries_due;
