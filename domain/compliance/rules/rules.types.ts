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
