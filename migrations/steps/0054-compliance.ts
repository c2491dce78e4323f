import type { Knex } from 'knex';

/** What scans and people find about how the landscape keeps its regulations, and what was decided about it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table compliance_findings (
      id uuid primary key default uuidv7(),
      -- the scan that found it first; null for one that a person wrote
      run_id uuid,
      -- a regulation's key; stays when the regulation is deleted
      regulation text not null,
      regulation_article text,
      -- the rule that found it; null for one that a person wrote
      rule_key text,
      -- null for one about the landscape as a whole
      card_id uuid references cards (id) on delete cascade,
      category text not null default '',
      requirement text not null,
      status text not null
        check (status in ('compliant', 'partial', 'non_compliant', 'not_applicable', 'review_needed')),
      severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
      gap_description text not null default '',
      evidence text,
      remediation text,
      ai_detected boolean not null default false,
      risk_id uuid,
      decision text not null default 'new' check (decision in
        ('new', 'in_review', 'mitigated', 'verified', 'accepted', 'not_applicable', 'risk_tracked')),
      reviewed_by uuid,
      reviewed_at timestamptz,
      review_note text,
      auto_resolved boolean not null default false,
      -- of one that is resolved: the last scan that saw it; the others were seen by the last scan of their regulation
      last_seen_run_id uuid,
      -- columns that a person has written, which scans leave as they are
      edited text[] not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index compliance_findings_created on compliance_findings (created_at, id);
    create index compliance_findings_card on compliance_findings (card_id);
    -- a merge of cards may leave two findings of one rule on the survivor: of them one is seen again
    create index compliance_findings_rule on compliance_findings (regulation, rule_key, card_id);

    -- The last scan that went through all rules of a regulation.
    create table compliance_scanned (
      regulation text primary key,
      run_id uuid not null,
      scanned_at timestamptz not null default now()
    );
  `);
}
