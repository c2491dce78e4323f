import { embed, query } from '../../../platform/database.ts';
import type { Severity } from '../../governance/compliance/compliance.model.ts';
import { compileRule, evidenceOf } from '../../governance/compliance/rules/rules.compile.ts';
import type { ComplianceRule } from '../../governance/compliance/rules/rules.types.ts';
import type { Work } from '../../kernel/context.ts';
import {
  type FindingChanges,
  type KnownFinding,
  reconcileFindings,
  type ScannedContent,
  type ScannedFinding,
  type Source,
} from './scans.reconcile.ts';

/** The maximum number of gaps and of earlier findings in one transaction. */
const PAGE = 2_000;

/** The progress of one rule. */
export interface RulePlace {
  /** Cards up to this id are done; null at the start. */
  after: string | null;
  gaps: number;
}

export interface RuleStep {
  place: RulePlace;
  changes: FindingChanges;
  /** Whether there may be more cards. */
  more: boolean;
}

/** Less than all ids. */
export const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Processes the next cards by a rule. @throws EstateError `validation_failed` if the metamodel lacks names that it
 * uses.
 */
export async function executeRulePage(
  work: Work,
  source: Source,
  rule: ComplianceRule,
  today: string,
  { after, gaps }: RulePlace,
): Promise<RuleStep> {
  const found = await readGaps(work, rule, today, after ?? FIRST);
  const reached = found.length === PAGE ? found.at(-1)!.card!.id : null;
  const upto = (await nextKnownPage(work, source, after ?? FIRST, reached)) ?? reached;
  const seen = upto === null ? found : found.filter(({ card }) => card!.id <= upto);
  const changes = await reconcileFindings(
    work,
    source,
    seen,
    await readKnownFindings(work, source, after ?? FIRST, upto),
  );
  return { place: { after: upto, gaps: gaps + seen.length }, changes, more: upto !== null };
}

async function readGaps(
  work: Work,
  rule: ComplianceRule,
  today: string,
  after: string,
): Promise<ScannedFinding[]> {
  const { gap, severity, facts } = compileRule(work.metamodel, rule, today);
  const rows = await query(work.sql).rows`select c.id, c.type, ${embed(severity)} as severity,
    ${embed(facts)} as facts
     from cards c where c.status = 'ACTIVE' and (${embed(gap)}) and c.id > ${after}::uuid
     order by c.id limit ${embed(PAGE)}`;
  return rows.map(({ id, type, ...row }: GapRow) => ({
    card: { id, type },
    content: findingContent(rule, {
      status: rule.status,
      severity: row.severity,
      gap_description: rule.gap,
      evidence: evidenceOf(work.metamodel.cardTypes.get(type)!, rule.evidence, row.facts),
      remediation: rule.remediation,
    }),
  }));
}

interface GapRow {
  id: string;
  type: string;
  severity: Severity;
  facts: unknown[];
}

/** The content of a finding by a rule. */
export const findingContent = (
  rule: Pick<ComplianceRule, 'article' | 'category' | 'requirement' | 'detectsAi'>,
  result: Omit<ScannedContent, 'regulation_article' | 'category' | 'requirement' | 'ai_detected'>,
): ScannedContent => ({
  regulation_article: rule.article,
  category: rule.category,
  requirement: rule.requirement,
  ai_detected: rule.detectsAi ?? false,
  ...result,
});

/** The id of the last card of a page of known findings; null if the remaining ones fit into one page. */
export async function nextKnownPage(
  { sql }: Work,
  { regulation, rule_key }: Source,
  after: string,
  upto: string | null,
): Promise<string | null> {
  const rows = await query(sql).rows`select card_id from compliance_findings
    where regulation = ${regulation} and rule_key = ${rule_key} and card_id > ${after}::uuid
       and card_id <= coalesce(${upto}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     order by card_id offset ${embed(PAGE)} limit 1`;
  return rows[0]?.card_id ?? null;
}

/** The findings of earlier scans by the rule on these cards: of several on one card the one with a decision is first. */
export async function readKnownFindings(
  { sql }: Work,
  { regulation, rule_key }: Source,
  after: string,
  upto: string | null,
): Promise<KnownFinding[]> {
  return await query(sql).rows`select to_jsonb(f) as row,
    json_build_object('id', c.id, 'type', c.type) as card
     from compliance_findings f join cards c on c.id = f.card_id
     where f.regulation = ${regulation} and f.rule_key = ${rule_key} and f.card_id > ${after}::uuid
       and f.card_id <= coalesce(${upto}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     order by f.card_id, f.decision = 'new', f.id`;
}

/**
 * Ends a rule: if all cards that it applies to comply, a confirmation for the landscape is found.
 * @returns the number of checked cards.
 */
export async function endRule(
  work: Work,
  source: Source,
  rule: ComplianceRule,
  today: string,
  { gaps }: RulePlace,
): Promise<{ checked: number; changes: FindingChanges }> {
  const { applies } = compileRule(work.metamodel, rule, today);
  const rows = await query(work.sql).rows`select count(*)::int as checked from cards c
    where c.status = 'ACTIVE' and (${embed(applies)})`;
  const checked: number = rows[0].checked;
  const met: ScannedFinding = {
    card: null,
    content: findingContent(rule, {
      status: 'compliant',
      severity: 'info',
      gap_description: '',
      evidence: `cards: ${checked}; gaps: 0`,
      remediation: null,
    }),
  };
  const known = await work.sql.raw(
    `select to_jsonb(f) as row, null as card from compliance_findings f
     where f.regulation = ? and f.rule_key = ? and f.card_id is null order by f.id`,
    [source.regulation, source.rule_key],
  );
  const seen = checked > 0 && gaps === 0 ? [met] : [];
  return { checked, changes: await reconcileFindings(work, source, seen, known.rows) };
}

/** Resolves findings of rules that no longer exist. @returns the counts, and whether there may be more. */
export async function retireRules(
  work: Work,
  { run_id, regulation }: Omit<Source, 'rule_key'>,
  rules: readonly string[],
): Promise<{ changes: FindingChanges; more: boolean }> {
  const rows = await query(work.sql).rows`select to_jsonb(f) as row,
       case when c.id is null then null else json_build_object('id', c.id, 'type', c.type) end as card
     from compliance_findings f left join cards c on c.id = f.card_id
     where f.regulation = ${regulation} and f.rule_key <> all(${rules}::text[]) and not f.auto_resolved
     order by f.id limit ${embed(PAGE)}`;
  const changes = await reconcileFindings(work, { run_id, regulation, rule_key: '' }, [], rows);
  return { changes, more: rows.length === PAGE };
}
