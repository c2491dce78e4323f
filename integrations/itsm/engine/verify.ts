import { writesBeyond } from './apply.changes.ts';
import type { Outcome, RemoteState } from './apply.types.ts';
import type { Book } from './book.types.ts';
import type { Mapping } from './mapping.types.ts';
import { localFields, remoteFields } from './normalise.ts';
import type { LocalCard } from './observation.types.ts';
import type { Plan, PlanRow } from './plan.types.ts';
import { canonical, same, told, type Value } from './values.ts';

/** Something that is not as an applied row should have left it. */
export interface Finding {
  no: number;
  message: string;
}

/** Both sides as they are after a plan was applied: what its rows wrote, read again. */
export interface Aftermath {
  outcomes: ReadonlyMap<number, Outcome>;
  book: Book;
  cards: ReadonlyMap<string, LocalCard>;
  /** By key; records that were not read again are not judged. */
  records: ReadonlyMap<string, RemoteState>;
}

/**
 * Compares what applied rows were to write with what is there now. A finding is no fault of the run by itself: somebody
 * may have changed the value since, and then the next run takes that along.
 */
export function verifyPlan(mapping: Mapping, plan: Pick<Plan, 'rows'>, after: Aftermath): Finding[] {
  return plan.rows.flatMap((row) => {
    const outcome = after.outcomes.get(row.no);
    if (outcome?.progress !== 'applied' || row.side === null || row.link) return [];
    const message =
      row.side === 'local'
        ? verifyCard(mapping, row, outcome, after)
        : verifyRecord(mapping, row, outcome, after);
    return message === null ? [] : [{ no: row.no, message }];
  });
}

function verifyCard(mapping: Mapping, row: PlanRow, outcome: Outcome, { cards }: Aftermath): string | null {
  const card = cards.get(row.cardId ?? outcome.madeId ?? '');
  const there = card !== undefined && !card.archived;
  if (row.action === 'delete') return there ? 'The card is there.' : null;
  if (!there) return 'The card is not there.';
  return difference(row, localFields(mapping, card), ({ local }) => local);
}

function verifyRecord(mapping: Mapping, row: PlanRow, outcome: Outcome, after: Aftermath): string | null {
  const remoteId = row.remoteId ?? outcome.madeId ?? '';
  const state = after.records.get(remoteId);
  if (!state || state.kind === 'unknown') return null;
  if (row.action === 'delete') return state.kind === 'there' ? 'The record is there.' : null;
  if (state.kind === 'gone') return 'The record is not there.';
  const base = after.book.pairs.get(remoteId)?.base ?? {};
  // a remote may keep another form than it was sent, which is then what both sides agreed on
  return difference(
    row,
    remoteFields(mapping, state.record),
    (agreed, path) => base[path]?.remote ?? agreed.remote,
  );
}

function difference(
  row: PlanRow,
  now: Record<string, Value>,
  wanted: (agreed: PlanRow['agreed'][string], path: string) => Value,
): string | null {
  for (const [path, agreed] of Object.entries(row.agreed)) {
    const want = writesBeyond(row, path) ? canonical(row.diff[path]!.new) : wanted(agreed, path);
    const have = now[path] ?? null;
    if (!same(want, have)) return `'${path}' is ${told(have)} instead of ${told(want)}.`;
  }
  return null;
}
