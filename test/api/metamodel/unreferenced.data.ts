const byReason: Readonly<Record<string, string>> = {
  'the metamodel itself, or the inventory, which changes of the metamodel change with it':
    'card_types relation_types stakeholder_role_definitions cards relations survey_responses',
  'what has happened, in the terms of its time':
    'events card_merges card_old_values relation_old_values mutation_batches extraction_runs kpi_snapshots analysis_runs assessments itsm_runs',
  'work that ends by itself': `jobs idempotency_keys import_card_rows import_cost_rows import_flow_rows import_outcomes
    import_relation_rows import_warnings migrations migration_rows migration_records workspace_transfers workspace_transfer_rows
    mails one_time_tokens job_schedules`,
  'computed from the inventory, and again after a change': `duplicate_clusters duplicate_decisions duplicate_models
    duplicate_pairs duplicate_states modernizations ai_outcomes`,
  'the state of a synchronisation, which its mapping determines': `itsm_account_limits itsm_connections itsm_pairs itsm_links
    itsm_plan_rows itsm_resolutions itsm_review_items itsm_run_records itsm_deferred_records itsm_books`,
  'nothing that names the metamodel': `adrs compliance_regulations diagram_drawings diagrams process_assessments
    process_contents process_element_links reference_catalogues resource_types roles settings soaws users`,
};

/** Tables that could hold keys of the metamodel by the kinds of their columns, but are no consumers. */
export const unreferenced: ReadonlySet<string> = new Set(
  Object.values(byReason).flatMap((names) => names.split(/\s+/)),
);
