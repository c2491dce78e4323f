-- Why a submitted version of a flow was rejected; until it is submitted again.
alter table process_flow_versions add column rejection_reason text;
