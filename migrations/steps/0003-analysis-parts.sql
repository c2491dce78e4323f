-- The results of the stages of a search are parts of its run, as those of every other analysis.
drop table duplicate_parts;
