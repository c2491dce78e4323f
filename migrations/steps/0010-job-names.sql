alter table jobs rename column handed_over_at to enqueued_at;
alter table jobs rename column deaths to crashes_without_progress;
alter table mails rename column handed_over_at to submitted_at;
