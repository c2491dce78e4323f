import { query } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { readingSets, ruleSets } from '../../governance/compliance/rules/rule-sets.ts';
import type { ComplianceRule, ReadingRule } from '../../governance/compliance/rules/rules.types.ts';
import { command } from '../../kernel/command.ts';
import type { Work } from '../../kernel/context.ts';
import type { JobCounts, JobStep } from '../../kernel/jobs/jobs.running.ts';
import type { ActiveRun, AnalysisJob } from '../runs/runs.ts';
import type { RunModelState } from '../runs/runs.types.ts';
import { type CardReader, executeReadingPage, type ReadCounts } from './scans.read.ts';
import { type FindingChanges, noChanges } from './scans.reconcile.ts';
import { endRule, executeRulePage, type RulePlace, retireRules } from './scans.rule.ts';
import type { ScanParameters } from './scans.start.ts';

/** The rules of a regulation: first filters, then rules that need a language model. */
interface Rules {
  key: string;
  filters: readonly ComplianceRule[];
  /** Undefined if no language model is configured. */
  readings: readonly ReadingRule[];
}

/** The context of all steps of a scan. */
interface Scan {
  job: AnalysisJob;
  runId: string;
  today: string;
  regulations: Rules[];
  reader: CardReader | undefined;
}

/**
 * Checks the whole landscape by the rules of the run's regulations, page by page. Each page is stored together with its
 * position, so that an interrupted scan resumes there; a cancelled scan leaves its stored findings. @param openReader
 * creates the reader for rules that need a language model, with its state before the worker of an earlier attempt
 * crashed; undefined if none is configured: then these rules are skipped, and their findings remain.
 */
export async function scan(
  job: AnalysisJob,
  run: ActiveRun,
  openReader: (before: RunModelState | undefined) => Promise<CardReader | undefined>,
): Promise<void> {
  const { regulations, today } = run.parameters as unknown as ScanParameters;
  let place = (job.resume as Place | null) ?? begin();
  const reader = await openReader(place.reader ?? undefined);
  const all: Scan = {
    job,
    runId: run.id,
    today,
    regulations: regulations.map((key) => ({
      key,
      filters: ruleSets.get(key) ?? [],
      readings: (reader && readingSets.get(key)) ?? [],
    })),
    reader,
  };
  while (place.regulation < regulations.length) {
    job.signal.throwIfAborted();
    place = await step(all, structuredClone(place));
  }
  const { summary } = place;
  const { parts = [], stopped = null } = reader?.state() ?? {};
  const results: ScanSummary = { ...summary, ...(stopped ? { model_stopped: stopped.reason } : {}) };
  await command(job.ctx, (work) => run.finish(work, { results: { ...results }, modelParts: parts }));
}

/** The progress and checkpoint of a scan at a position. */
function stepAt({ regulations, reader }: Scan, place: Place): JobStep {
  const rules = regulations.map(({ filters, readings }) => filters.length + readings.length);
  const total = rules.reduce((sum, n) => sum + n, 0);
  const done = rules.slice(0, place.regulation).reduce((sum, n) => sum + n, 0) + place.rule;
  const key = regulations[place.regulation]?.key;
  return {
    progress: Math.min(done / Math.max(total, 1), 0.99),
    ...(key === undefined ? {} : { message: key }),
    counts: countsOf(place.summary),
    checkpoint: { ...place, reader: reader?.state() ?? null },
  };
}

/** Executes one page of one rule, or the end of a rule or of a regulation. @returns the next position. */
async function step(all: Scan, place: Place): Promise<Place> {
  const { filters, readings } = all.regulations[place.regulation]!;
  const reading = readings[place.rule - filters.length];
  if (reading) return await read(all, reading, place);
  return await command(all.job.ctx, async (work) => {
    const next = await look(work, all, place);
    await all.job.checkpoint(work, stepAt(all, next));
    return next;
  });
}

async function look(work: Work, { runId, today, regulations }: Scan, place: Place): Promise<Place> {
  const { key, filters, readings } = regulations[place.regulation]!;
  const { summary } = place;
  if (filters.length === 0) {
    summary.without_rules.push(key);
    return nextRegulation(place);
  }
  const about = summaryOf(summary, key, filters.length + readings.length);
  const rule = filters[place.rule];
  if (!rule) {
    // Whether or not a language model is configured now.
    const current = [...filters, ...(readingSets.get(key) ?? [])].map((each) => each.key);
    const retired = await retireRules(work, { run_id: runId, regulation: key }, current);
    add(about, retired.changes);
    if (retired.more) return place;
    await query(work.sql).run`insert into compliance_scanned (regulation, run_id)
      values (${key}, ${runId}::uuid)
       on conflict (regulation) do update set run_id = excluded.run_id, scanned_at = now()`;
    return nextRegulation(place);
  }
  const source = { run_id: runId, regulation: key, rule_key: rule.key };
  try {
    const { place: at, changes, more } = await executeRulePage(work, source, rule, today, place.at);
    add(about, changes);
    if (more) return { ...place, at };
    const end = await endRule(work, source, rule, today, at);
    add(about, end.changes);
    about.checked += end.checked;
    about.gaps += at.gaps;
  } catch (error) {
    skip(about, rule, error);
  }
  return nextRule(place);
}

async function read(all: Scan, rule: ReadingRule, place: Place): Promise<Place> {
  const { job, runId, today, regulations } = all;
  const { key, filters, readings } = regulations[place.regulation]!;
  const about = summaryOf(place.summary, key, filters.length + readings.length);
  const source = { run_id: runId, regulation: key, rule_key: rule.key };
  let next = place;
  try {
    await executeReadingPage(
      job,
      all.reader!,
      source,
      rule,
      { today, place: place.at },
      (work) => job.checkpoint(work, stepAt(all, place)),
      async (work, { place: at, changes, counts, more }) => {
        // The command may be retried.
        const reached = structuredClone(place);
        const sums = summaryOf(reached.summary, key, filters.length + readings.length);
        add(sums, changes);
        sums.checked += counts.cards;
        sums.assessed_by_model ??= { cards: 0, asked: 0, unread: 0 };
        sums.assessed_by_model.cards += counts.cards;
        sums.assessed_by_model.asked += counts.asked;
        sums.assessed_by_model.unread += counts.unread;
        if (!more) sums.gaps += at.gaps;
        next = more ? { ...reached, at } : nextRule(reached);
        await job.checkpoint(work, stepAt(all, next));
      },
    );
  } catch (error) {
    skip(about, rule, error);
    next = nextRule(place);
  }
  return next;
}

const nextRule = (place: Place): Place => ({ ...place, rule: place.rule + 1, at: begin().at });
const nextRegulation = (place: Place): Place => ({
  ...place,
  regulation: place.regulation + 1,
  rule: 0,
  at: begin().at,
});

/** Thrown before anything is written: findings of earlier scans by the rule are unchanged. */
function skip(about: RegulationSummary, rule: { key: string }, error: unknown): void {
  if (!(error instanceof EstateError && error.code === 'validation_failed')) throw error;
  about.skipped.push({ rule: rule.key, reason: reasonOf(error) });
}

/** The names that the metamodel lacks, without their position in the rule's filter and without alternatives. */
const reasonOf = ({ message }: Error): string => message.replace(/^filter: | \(known is .*$/g, '');

function add(summary: RegulationSummary, changes: FindingChanges): void {
  for (const name of Object.keys(noChanges()) as (keyof FindingChanges)[]) summary[name] += changes[name];
}

/** The results of a scan for one regulation. */
interface RegulationSummary extends FindingChanges {
  rules: number;
  /** Rules that could not be checked, because the metamodel lacks names that they use. */
  skipped: { rule: string; reason: string }[];
  /** Number of checked cards; a card counts once for each rule. */
  checked: number;
  gaps: number;
  /** Set if cards were read by a language model; over all rules. */
  assessed_by_model?: ReadCounts;
}

/** The results of a scan. */
interface ScanSummary {
  regulations: Record<string, RegulationSummary>;
  /** Regulations without rules: nothing was checked. */
  without_rules: string[];
  /** Why the language model was not used for all cards. */
  model_stopped?: string;
}

/** The position of a scan: the next regulation and rule. */
interface Place {
  regulation: number;
  rule: number;
  at: RulePlace;
  summary: ScanSummary;
  reader?: RunModelState | null;
}

/** The position before the start. */
const begin = (): Place => ({
  regulation: 0,
  rule: 0,
  at: { after: null, gaps: 0 },
  summary: { regulations: {}, without_rules: [] },
});

/** The results of a regulation so far. */
function summaryOf({ regulations }: ScanSummary, key: string, rules: number): RegulationSummary {
  regulations[key] ??= { rules, skipped: [], checked: 0, gaps: 0, ...noChanges() };
  return regulations[key];
}

/** The sums over all regulations. */
function countsOf({ regulations }: ScanSummary): JobCounts {
  const counts: JobCounts = { checked: 0, gaps: 0, ...noChanges() };
  for (const summary of Object.values(regulations)) {
    for (const name of Object.keys(counts)) counts[name]! += summary[name as keyof FindingChanges];
  }
  return counts;
}
