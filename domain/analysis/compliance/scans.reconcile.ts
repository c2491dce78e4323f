import { embed, query } from '../../../platform/database.ts';
import type { FindingRow } from '../../governance/compliance/compliance.model.ts';
import { nextDecisions } from '../../governance/compliance/decisions.rules.ts';
import { findingEvent } from '../../governance/compliance/findings.list.ts';
import type { Work } from '../../kernel/context.ts';

/** The content of a finding from a scan; a user may have changed some of it. */
export type ScannedContent = Pick<
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

/** A gap or confirmation found by a scan, on a card or on the landscape. */
export interface ScannedFinding {
  card: { id: string; type: string } | null;
  content: ScannedContent;
}

/** A finding of an earlier scan. */
export interface KnownFinding {
  row: FindingRow;
  card: { id: string; type: string } | null;
}

/** The source of findings: the scan, and the rule. */
export interface Source {
  run_id: string;
  regulation: string;
  rule_key: string;
}

/** Number of findings that a scan created, reopened, changed, resolved, and left unchanged. */
export interface FindingChanges {
  found: number;
  reopened: number;
  changed: number;
  resolved: number;
  unchanged: number;
}

export const noChanges = (): FindingChanges => ({
  found: 0,
  reopened: 0,
  changed: 0,
  resolved: 0,
  unchanged: 0,
});

/**
 * Updates the findings of one source to the current results, in few statements. A finding that was found before retains
 * its id, decision and note; findings that are no longer found are resolved; resolved ones that are found again are
 * reopened, and have to be reviewed again if a user had marked them as fixed. `known` contains every finding of the
 * source within the range of `seen`; of several on one card the first is continued. Only changed findings are locked,
 * and compared again under the lock.
 */
export async function reconcileFindings(
  work: Work,
  source: Source,
  seen: readonly ScannedFinding[],
  known: readonly KnownFinding[],
): Promise<FindingChanges> {
  const counts = noChanges();
  const leads = new Map<string, KnownFinding>();
  for (const finding of known) {
    const at = finding.card?.id ?? '';
    if (!leads.has(at)) leads.set(at, finding);
  }
  const fresh: ScannedFinding[] = [];
  const changes = new Map<string, Change>();
  for (const sight of seen) {
    const lead = leads.get(sight.card?.id ?? '');
    if (!lead) {
      fresh.push(sight);
      continue;
    }
    const change: Change = (row) => seenAgain(row, sight.content);
    if (!change(lead.row)) counts.unchanged += 1;
    else {
      changes.set(lead.row.id, change);
      counts[lead.row.auto_resolved ? 'reopened' : 'changed'] += 1;
    }
  }
  const carried = new Set(seen.flatMap(({ card }) => leads.get(card?.id ?? '')?.row.id ?? []));
  const last = known.length > 0 ? await lastScan(work, source) : null;
  for (const { row } of known) {
    if (row.auto_resolved || carried.has(row.id)) continue;
    changes.set(row.id, unseen(last));
    counts.resolved += 1;
  }
  counts.found = await insert(work, source, fresh);
  await update(work, changes);
  return counts;
}

/** The changed finding; undefined if nothing changes. */
type Change = (row: FindingRow) => FindingRow | undefined;

/** The change of a finding that is no longer found. */
const unseen =
  (last: string | null): Change =>
  (row) =>
    row.auto_resolved ? undefined : { ...row, auto_resolved: true, last_seen_run_id: last ?? row.run_id };

/** The change of a finding that is found again; undefined if nothing differs. */
function seenAgain(row: FindingRow, content: ScannedContent): FindingRow | undefined {
  const after: FindingRow = { ...row, auto_resolved: false, last_seen_run_id: null };
  for (const [column, value] of Object.entries(content)) {
    if (!row.edited.includes(column)) (after as Record<string, unknown>)[column] = value;
  }
  if (row.auto_resolved) after.decision = nextDecisions('scan', row.decision)[0] ?? row.decision;
  const differs = (Object.keys(after) as (keyof FindingRow)[]).some(
    (column) => after[column] !== row[column],
  );
  return differs ? after : undefined;
}

async function lastScan({ sql }: Work, { regulation }: Source): Promise<string | null> {
  const row = await sql('compliance_scanned').where({ regulation }).first('run_id');
  return row?.run_id ?? null;
}

/** Inserts new findings, except those on cards that were deleted meanwhile. @returns their number. */
async function insert(work: Work, source: Source, seen: readonly ScannedFinding[]): Promise<number> {
  if (seen.length === 0) return 0;
  const cards = new Map(seen.map(({ card }) => [card?.id ?? null, card]));
  const values = seen.map(({ card, content }) => ({ ...source, ...content, card_id: card?.id ?? null }));
  const columns = Object.keys(values[0]!).join(', ');
  const rows = await query(work.sql).rows`with held as (select id from cards
    where id = any(${[...cards.keys()].filter((id) => id !== null)}::uuid[]) order by id for key share)
     insert into compliance_findings as f (${embed(columns)})
     select ${embed(columns)}
     from json_populate_recordset(null::compliance_findings, ${JSON.stringify(values)}::json) v
     where v.card_id is null or v.card_id in (select id from held)
     returning to_jsonb(f) as row`;
  for (const { row } of rows as { row: FindingRow }[]) {
    work.emit(findingEvent(cards.get(row.card_id) ?? null, null, row));
  }
  return rows.length;
}

/** The columns of a finding that a scan may change. */
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

async function update(work: Work, changes: ReadonlyMap<string, Change>): Promise<void> {
  if (changes.size === 0) return;
  const locked = await work.sql.raw(
    `select to_jsonb(f) as row,
       case when c.id is null then null else json_build_object('id', c.id, 'type', c.type) end as card
     from compliance_findings f left join cards c on c.id = f.card_id
     where f.id = any(?::uuid[]) order by f.id for no key update of f`,
    [[...changes.keys()]],
  );
  const writes = locked.rows.flatMap(({ row, card }: KnownFinding) => {
    const after = changes.get(row.id)!(row);
    return after ? [{ before: row, after, card }] : [];
  }) as { before: FindingRow; after: FindingRow; card: KnownFinding['card'] }[];
  const set = written.map((column) => `${column} = v.${column}`).join(', ');
  const rows = await query(work.sql).rows`update compliance_findings f
    set ${embed(set)}, updated_at = clock_timestamp()
     from json_populate_recordset(null::compliance_findings,
     ${JSON.stringify(writes.map(({ after }) => after))}::json) v
     where f.id = v.id returning to_jsonb(f) as row`;
  const stored = new Map<string, FindingRow>(rows.map(({ row }: { row: FindingRow }) => [row.id, row]));
  for (const { before, card } of writes) work.emit(findingEvent(card, before, stored.get(before.id)!));
}
