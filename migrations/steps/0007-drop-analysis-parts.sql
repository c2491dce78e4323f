-- An interrupted analysis computes its current step again.
drop table analysis_parts;
