import type { FindingStatus, Severity } from '../compliance.types.ts';

/** What a finding tells of its card: the value of one of its own fields, or how many cards or people stand around it. */
export type Fact =
  /** `subtype`, `approval_status`, `data_quality`, `attributes.<key>` or `lifecycle.<phase>`. */
  | { field: string }
  /** Cards at the named end of a relation type, of those that the filter selects. */
  | { count: string; relation: string; end: 'source' | 'target'; where?: string }
  /** People in a role on the card. */
  | { count: string; role: string };

/**
 * One requirement of a regulation as far as the inventory can tell whether it is met. Filters are those of the filter
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
  /** Those of them that meet it; the others have a gap. */
  meets: string;
  /** What a gap means. */
  status: Exclude<FindingStatus, 'compliant' | 'not_applicable'>;
  severity: Severity;
  /** The first that holds says how grave a gap is, instead of `severity`. */
  graver?: { when: string; severity: Severity }[];
  gap: string;
  remediation: string;
  evidence: Fact[];
  /** Whether a gap means that the card seems to use AI and does not say so. */
  detectsAi?: true;
}

/**
 * One requirement of a regulation about which a card's own words tell, so that they have to be read. A language model reads them, and a
 * person decides: such a rule finds what is to be looked at, and never that all is well.
 */
export interface ReadingRule
  extends Pick<ComplianceRule, 'key' | 'article' | 'category' | 'requirement' | 'applies'> {
  /** What is asked of a card, as a question to be answered with yes or no; yes is found. */
  question: string;
  severity: Severity;
  gap: string;
  remediation: string;
  /** Whether nothing can be told without the description: the name alone may tell that something uses AI. */
  needsDescription?: true;
  /** Whether yes means that the card seems to use AI and does not say so. */
  detectsAi?: true;
}
