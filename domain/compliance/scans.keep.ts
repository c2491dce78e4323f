import type { Work } from '../command.ts';
import type { FindingRow } from './compliance.types.ts';
import { nextDecisions } from './decisions.rules.ts';
import { findingEvent } from './findings.events.ts';

/** What a scan says of a finding; a person may have written some of it over. */
export type SeenContent = Pick<
  FindingRow,
  | 'regulation_article'
  | 'category'
  | 'requirement'
  | 'status'
  | 'severity'
  | 'gap_description'
  | 'evidence'
  | 'remediation'
  | 'ai_detected'
>;

/** What a scan sees, on a card or on the landscape. */
export interface Seen {
  card: { id: string; type: string } | null;
  content: SeenContent;
}

/** A finding of an earlier scan. */
export interface Known {
  row: FindingRow;
  card: { id: string; type: string } | null;
}

/** Where findings come from: the scan, and the rule. */
export interface Source {
  run_id: string;
  regulation: string;
  rule_key: string;
}

/** How many findings a scan found, found again after they were resolved, changed, resolved, and left as they are. */
export interface Kept {
  found: number;
  reopened: number;
  changed: number;
  resolved: number;
  unchanged: number;
}

export const nothingKept = (): Kept => ({ found: 0, reopened: 0, changed: 0, resolved: 0, unchanged: 0 });

/**
 * Brings the findings of one source up to what is seen now, in few statements. What was seen before keeps its id, its
 * decision and its note; what is seen no more is resolved; what was resolved and is seen again stands again, and is to be
 * reviewed again where somebody had said that it is gone. `known` holds every finding of the source within the bounds of
 * `seen`, locked; of several on one card the first is carried on.
 */
export async function keepFindings(
  work: Work,
  source: Source,
  seen: readonly Seen[],
  known: readonly Known[],
): Promise<Kept> {
  const kept = nothingKept();
  const leads = new Map<string, Known>();
  for (const finding of known) {
    const at = finding.card?.id ?? '';
    if (!leads.has(at)) leads.set(at, finding);
  }
  const fresh: Seen[] = [];
  const writes: { before: FindingRow; after: FindingRow; card: Known['card'] }[] = [];
  for (const sight of seen) {
    const at = sight.card?.id ?? '';
    const lead = leads.get(at);
    if (!lead) {
      fresh.push(sight);
      continue;
    }
    const after = seenAgain(lead.row, sight.content);
    if (lead.row.auto_resolved) kept.reopened += 1;
    else if (after) kept.changed += 1;
    else kept.unchanged += 1;
    if (after) writes.push({ before: lead.row, after, card: lead.card });
  }
  const carried = new Set(seen.flatMap(({ card }) => leads.get(card?.id ?? '')?.row.id ?? []));
  const last = known.length > 0 ? await lastScan(work, source) : null;
  for (const { row, card } of known) {
    if (row.auto_resolved || carried.has(row.id)) continue;
    kept.resolved += 1;
    const after = { ...row, auto_resolved: true, last_seen_run_id: last ?? row.run_id };
    writes.push({ before: row, after, card });
  }
  kept.found = fresh.length;
  await insert(work, source, fresh);
  await update(work, writes);
  return kept;
}

/** The finding as it stands now that it is seen again; undefined where nothing differs. */
function seenAgain(row: FindingRow, content: SeenContent): FindingRow | undefined {
  const after: FindingRow = { ...row, auto_resolved: false, last_seen_run_id: null };
  for (const [column, value] of Object.entries(content)) {
    if (!row.edited.includes(column)) (after as Record<string, unknown>)[column] = value;
  }
  if (row.auto_resolved) after.decision = nextDecisions('scan', row.decision)[0] ?? row.decision;
  const differs = Object.keys(after).some((column) => after[column] !== row[column]);
  return differs ? after : undefined;
}

async function lastScan({ sql }: Work, { regulation }: Source): Promise<string | null> {
  const row = await sql('compliance_scanned').where({ regulation }).first('run_id');
  return row?.run_id ?? null;
}

async function insert(work: Work, source: Source, seen: readonly Seen[]): Promise<void> {
  if (seen.length === 0) return;
  const values = seen.map(({ card, content }) => ({ ...source, ...content, card_id: card?.id ?? null }));
  const columns = Object.keys(values[0]!).join(', ');
  const { rows } = await work.sql.raw(
    `insert into compliance_findings as f (${columns})
     select ${columns} from jsonb_populate_recordset(null::compliance_findings, ?::jsonb)
     returning to_jsonb(f) as row`,
    [JSON.stringify(values)],
  );
  const cards = new Map(seen.map(({ card }) => [card?.id ?? null, card]));
  for (const { row } of rows as { row: FindingRow }[]) {
    work.emit(findingEvent(cards.get(row.card_id) ?? null, null, row));
  }
}

/** What a scan may change of a finding. */
const written = [
  'regulation_article',
  'category',
  'requirement',
  'status',
  'severity',
  'gap_description',
  'evidence',
  'remediation',
  'ai_detected',
  'decision',
  'auto_resolved',
  'last_seen_run_id',
];

async function update(
  work: Work,
  writes: readonly { before: FindingRow; after: FindingRow; card: Known['card'] }[],
): Promise<void> {
  if (writes.length === 0) return;
  const set = written.map((column) => `${column} = v.${column}`).join(', ');
  const { rows } = await work.sql.raw(
    `update compliance_findings f set ${set}, updated_at = clock_timestamp()
     from jsonb_populate_recordset(null::compliance_findings, ?::jsonb) v
     where f.id = v.id returning to_jsonb(f) as row`,
    [JSON.stringify(writes.map(({ after }) => after))],
  );
  const stored = new Map<string, FindingRow>(rows.map(({ row }: { row: FindingRow }) => [row.id, row]));
  for (const { before, card } of writes) work.emit(findingEvent(card, before, stored.get(before.id)!));
}
