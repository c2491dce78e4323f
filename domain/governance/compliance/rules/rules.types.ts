import type { FindingStatus, Severity } from '../compliance.model.ts';

/** Evidence about a card: the value of one of its fields, or a number of related cards or stakeholders. */
export type Fact =
  /** `subtype`, `approval_status`, `data_quality`, `attributes.<key>` or `lifecycle.<phase>`. */
  | { field: string }
  /** Cards at the named end of a relation type, of those that the filter selects. */
  | { count: string; relation: string; end: 'source' | 'target'; where?: string }
  /** People in a role on the card. */
  | { count: string; role: string };

/**
 * One requirement of a regulation that can be checked against the inventory. Filters are those of the filter
 * language; `{today}` in them is the day of the scan, `{soon}` the day half a year later.
 */
export interface ComplianceRule {
  /** Unique within its regulation; findings are carried over by it, so it is never renamed once released. */
  key: string;
  article: string;
  category: string;
  requirement: string;
  /** The active cards that it is about. */
  applies: string;
  /** Those of them that comply; the others have a gap. */
  meets: string;
  /** What a gap means. */
  status: Exclude<FindingStatus, 'compliant' | 'not_applicable'>;
  severity: Severity;
  /** The severity of the first condition that matches replaces `severity`. */
  overrides?: { when: string; severity: Severity }[];
  gap: string;
  remediation: string;
  evidence: Fact[];
  /** Whether a gap means that the card seems to use AI and does not say so. */
  detectsAi?: true;
}

/**
 * One requirement of a regulation that is checked against the texts of a card. A language model reads them and a person
 * decides: such a rule only finds what needs a review.
 */
export interface ReadingRule
  extends Pick<ComplianceRule, 'key' | 'article' | 'category' | 'requirement' | 'applies'> {
  /** A yes-or-no question about the card; yes is a finding. */
  question: string;
  severity: Severity;
  gap: string;
  remediation: string;
  /** Whether cards without a description are skipped. Their names may suffice to detect AI. */
  needsDescription?: true;
  /** Whether yes means that the card seems to use AI and does not say so. */
  detectsAi?: true;
}
