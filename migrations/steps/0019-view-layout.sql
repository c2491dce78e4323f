-- Grouping, widths and density of a saved view.
alter table bookmarks add column layout jsonb;
