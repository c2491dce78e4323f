-- Deliveries wait for storages, and exports must not wait for them.
update job_schedules set queue = 'delivery' where kind = 'scheduled_extraction';
