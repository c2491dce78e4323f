import { EstateError } from '../../platform/errors.ts';
import type { AnalysisJob, CarriedRun } from '../analysis/runs.carry.ts';
import { command, type Work } from '../command.ts';
import type { JobCounts } from '../jobs/jobs.running.ts';
import { ruleSets } from './rules/rule-sets.ts';
import type { ComplianceRule } from './rules/rules.types.ts';
import { type Kept, nothingKept } from './scans.keep.ts';
import { endRule, type RulePlace, retireRules, stepRule } from './scans.rule.ts';
import type { ScanParameters } from './scans.start.ts';

/** What a scan says of one regulation. */
export interface RegulationSummary extends Kept {
  rules: number;
  /** Rules that could not be tried, since the metamodel lacks what they name. */
  skipped: { rule: string; reason: string }[];
  /** Cards tried, a card by each of its rules. */
  checked: number;
  gaps: number;
}

/** What a scan says at its end. */
export interface ScanSummary {
  regulations: Record<string, RegulationSummary>;
  /** Regulations for which there are no rules: nothing was looked at. */
  without_rules: string[];
}

/** Where a scan stands: the regulation and rule that come next. */
interface Place {
  regulation: number;
  rule: number;
  at: RulePlace;
  summary: ScanSummary;
}

const begin = (): RulePlace => ({ after: null, gaps: 0 });

/**
 * Looks at the whole landscape by the rules of the run's regulations, page by page. Each page is stored with the place
 * that it has reached, so that a scan goes on where it was cut off; a scan that is cancelled leaves what it has stored.
 */
export async function scan(job: AnalysisJob, run: CarriedRun): Promise<undefined> {
  const { regulations, today } = run.parameters as unknown as ScanParameters;
  const rulesOf = (keys: readonly string[]) =>
    keys.reduce((sum, key) => sum + (ruleSets.get(key)?.length ?? 0), 0);
  const total = rulesOf(regulations);
  let place = (job.resume ?? {
    regulation: 0,
    rule: 0,
    at: begin(),
    summary: { regulations: {}, without_rules: [] },
  }) as Place;
  while (place.regulation < regulations.length) {
    const key = regulations[place.regulation]!;
    const rules = ruleSets.get(key) ?? [];
    job.signal.throwIfAborted();
    const from: Place = place;
    place = await command(job.ctx, async (work) => {
      const next = await step(work, run.id, { key, rules, today }, structuredClone(from));
      await job.checkpoint(work, {
        progress: Math.min(
          (rulesOf(regulations.slice(0, next.regulation)) + next.rule) / Math.max(total, 1),
          0.99,
        ),
        message: key,
        counts: countsOf(next.summary),
        checkpoint: next,
      });
      return next;
    });
  }
  const { summary } = place;
  await command(job.ctx, (work) => run.finish(work, { results: { ...summary } }));
  return undefined;
}

interface Looked {
  key: string;
  rules: readonly ComplianceRule[];
  today: string;
}

/** One page of one rule, or the end of a rule or of a regulation. @returns the place reached. */
async function step(work: Work, run_id: string, { key, rules, today }: Looked, place: Place): Promise<Place> {
  const { summary } = place;
  const nextRegulation = (): Place => ({
    regulation: place.regulation + 1,
    rule: 0,
    at: begin(),
    summary,
  });
  if (rules.length === 0) {
    summary.without_rules.push(key);
    return nextRegulation();
  }
  summary.regulations[key] ??= { rules: rules.length, skipped: [], checked: 0, gaps: 0, ...nothingKept() };
  const told = summary.regulations[key];
  const rule = rules[place.rule];
  if (!rule) {
    const { kept, more } = await retireRules(
      work,
      { run_id, regulation: key },
      rules.map((each) => each.key),
    );
    add(told, kept);
    if (more) return place;
    await work.sql.raw(
      `insert into compliance_scanned (regulation, run_id) values (?, ?::uuid)
       on conflict (regulation) do update set run_id = excluded.run_id, scanned_at = now()`,
      [key, run_id],
    );
    return nextRegulation();
  }
  const source = { run_id, regulation: key, rule_key: rule.key };
  try {
    const { place: at, kept, more } = await stepRule(work, source, rule, today, place.at);
    add(told, kept);
    if (more) return { ...place, at };
    const end = await endRule(work, source, rule, today, at);
    add(told, end.kept);
    told.checked += end.checked;
    told.gaps += at.gaps;
  } catch (error) {
    // raised before anything is written: what earlier scans found by the rule stays as it is
    if (!(error instanceof EstateError && error.code === 'validation_failed')) throw error;
    told.skipped.push({ rule: rule.key, reason: reasonOf(error) });
  }
  return { ...place, rule: place.rule + 1, at: begin() };
}

/** What the metamodel lacks, without the place in the rule's filter and all that is known instead. */
const reasonOf = ({ message }: Error): string => message.replace(/^filter: | \(known is .*$/g, '');

function add(summary: RegulationSummary, kept: Kept): void {
  for (const [name, n] of Object.entries(kept)) summary[name as keyof Kept] += n;
}

/** The sums over all regulations. */
function countsOf({ regulations }: ScanSummary): JobCounts {
  const counts: JobCounts = { checked: 0, gaps: 0, ...nothingKept() };
  for (const summary of Object.values(regulations)) {
    for (const name of Object.keys(counts)) counts[name]! += summary[name as keyof Kept];
  }
  return counts;
}
