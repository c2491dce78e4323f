import type { JobCounts } from '../../kernel/jobs/jobs.running.ts';
import { type Kept, nothingKept } from './scans.keep.ts';
import type { ReadCounts, ReaderState } from './scans.read.ts';
import type { RulePlace } from './scans.rule.ts';

/** What a scan says of one regulation. */
export interface RegulationSummary extends Kept {
  rules: number;
  /** Rules that could not be tried, since the metamodel lacks what they name. */
  skipped: { rule: string; reason: string }[];
  /** Cards tried, a card by each of its rules. */
  checked: number;
  gaps: number;
  /** Where cards were read by a language model, over all rules. */
  read_by_model?: ReadCounts;
}

/** What a scan says at its end. */
export interface ScanSummary {
  regulations: Record<string, RegulationSummary>;
  /** Regulations for which there are no rules: nothing was looked at. */
  without_rules: string[];
  /** Why the language model was asked no more before all was read. */
  model_stopped?: string;
}

/** Where a scan stands: the regulation and rule that come next. */
export interface Place {
  regulation: number;
  rule: number;
  at: RulePlace;
  summary: ScanSummary;
  reader?: ReaderState | null;
}

/** Before anything. */
export const begin = (): Place => ({
  regulation: 0,
  rule: 0,
  at: { after: null, gaps: 0 },
  summary: { regulations: {}, without_rules: [] },
});

/** What is said of a regulation so far. */
export function summaryOf({ regulations }: ScanSummary, key: string, rules: number): RegulationSummary {
  regulations[key] ??= { rules, skipped: [], checked: 0, gaps: 0, ...nothingKept() };
  return regulations[key];
}

/** The sums over all regulations. */
export function countsOf({ regulations }: ScanSummary): JobCounts {
  const counts: JobCounts = { checked: 0, gaps: 0, ...nothingKept() };
  for (const summary of Object.values(regulations)) {
    for (const name of Object.keys(counts)) counts[name]! += summary[name as keyof Kept];
  }
  return counts;
}
