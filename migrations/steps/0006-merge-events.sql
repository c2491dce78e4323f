-- An undo of a merge reads the events of the merge.
alter table card_merges drop column journal;
