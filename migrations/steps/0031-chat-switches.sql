-- Notifications that channels of Slack and Microsoft Teams have not got yet.
alter table notifications add column chat_pending boolean not null default false;
update notifications set chat_pending = true where mail_pending;
create index notifications_chat on notifications (user_id) where chat_pending;
