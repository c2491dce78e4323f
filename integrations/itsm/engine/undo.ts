import { writesBeyond } from './apply.changes.ts';
import { isLate } from './apply.late.ts';
import type { Outcome } from './apply.types.ts';
import type { Book, PairState } from './book.types.ts';
import type { Path, Side } from './mapping.types.ts';
import { emptyRow } from './plan.draft.ts';
import type { Plan, PlanRow } from './plan.types.ts';
import { canonical, type Value } from './values.ts';

/**
 * Makes the plan that takes an applied one back, row by row from its end. It is applied like any other: a row only
 * while what it takes back is still as it was left, so that nobody's later change goes with it. The base goes back too;
 * the next run finds what this one found, and proposes it again.
 */
export function undoPlan(
  id: string,
  plan: Plan,
  outcomes: ReadonlyMap<number, Outcome>,
  book: Book,
  now: string,
): Plan {
  const rows: PlanRow[] = [];
  for (const row of plan.rows.toReversed()) {
    const outcome = outcomes.get(row.no);
    if (outcome?.progress !== 'applied') continue;
    const inverse = inverseOf(row, outcome, book, plan.id);
    rows.push({ ...emptyRow, ...inverse, no: rows.length });
  }
  const closing = { watermark: book.watermark, again: [...book.again].sort(), absences: {} };
  return { id, mappingId: plan.mappingId, madeAt: now, rows, stopped: null, closing };
}

type Inverse = Pick<PlanRow, 'action' | 'reason'> & Partial<PlanRow>;

function inverseOf(row: PlanRow, outcome: Outcome, book: Book, runId: string): Inverse {
  const { remoteId, cardId } = pairOf(row, outcome, book);
  const ids = { remoteId, cardId };
  const reason = `Takes back row ${row.no} (${row.action})`;
  switch (row.action) {
    case 'update':
    case 'agree':
      return { ...ids, ...takenBack(row, remoteId, book), reason };
    case 'create':
      return { ...ids, ...unmade(row, remoteId, book), reason };
    case 'delete':
      return { ...ids, ...madeAgain(row, book, runId), reason };
    case 'restore':
      return { ...ids, ...archivedAgain(row, book), reason };
    case 'link':
      return {
        ...ids,
        action: 'unlink',
        reason,
        expects: { pair: 'linked' },
        drops: remoteId ? [remoteId] : [],
      };
    case 'quarantine':
      return {
        ...ids,
        action: 'release',
        reason,
        expects: { pair: 'quarantined' },
        state: { kind: 'linked' },
      };
    case 'relate':
    case 'unrelate': {
      const { side, link, baseLink, cards, refers } = row;
      const action = row.action === 'relate' ? 'unrelate' : 'relate';
      // its records are found by its cards again: nothing else names those that the plan has made
      return { ...ids, action, side, link, baseLink, cards, refers, reason };
    }
    case 'unlink':
      if (row.state?.kind === 'ended') {
        const state = { kind: 'linked' } as const;
        return { ...ids, action: 'release', reason, expects: { pair: 'ended' }, state };
      }
      break;
  }
  return {
    ...ids,
    action: 'skip',
    reason: `Row ${row.no} (${row.action}) changed nothing that could be taken back`,
  };
}

/** What a row was about, also where that was not known before others had made it. */
function pairOf(row: PlanRow, outcome: Outcome, book: Book): Pick<PlanRow, 'remoteId' | 'cardId'> {
  const madeId = outcome.madeId ?? null;
  if (!isLate(row)) {
    return {
      remoteId: row.remoteId ?? (row.side === 'remote' ? madeId : null),
      cardId: row.cardId ?? (row.side === 'local' ? madeId : null),
    };
  }
  const pair = [...book.pairs.values()].find((one) =>
    row.remoteId === null ? one.cardId === row.cardId : one.remoteId === row.remoteId,
  );
  return { remoteId: row.remoteId ?? pair?.remoteId ?? null, cardId: row.cardId ?? pair?.cardId ?? null };
}

/** What a side holds of the fields now, as far as the book knows: that may be another form than what was sent. */
function heldNow(row: PlanRow, remoteId: string | null, book: Book, side: Side): Record<Path, Value> {
  const base = (remoteId === null ? undefined : book.pairs.get(remoteId))?.base ?? {};
  return Object.fromEntries(
    Object.entries(row.agreed).map(([path, agreed]) => [
      path,
      writesBeyond(row, path) ? canonical(row.diff[path]!.new) : (base[path] ?? agreed)[side],
    ]),
  );
}

function takenBack(row: PlanRow, remoteId: string | null, book: Book): Omit<Inverse, 'reason'> {
  const { side } = row;
  const base = (remoteId === null ? undefined : book.pairs.get(remoteId))?.base ?? {};
  const paths = Object.keys(row.agreed);
  const held = side ? heldNow(row, remoteId, book, side) : {};
  const known = paths.filter((path) => row.before[path]);
  return {
    action: row.action,
    side,
    diff: Object.fromEntries(
      Object.entries(row.diff).map(([path, { old }]) => [path, { old: held[path] ?? null, new: old }]),
    ),
    expects: {
      pair: 'linked',
      ...(side === 'local' && { card: { there: true, fields: held } }),
      ...(side === 'remote' && { record: { there: true, fields: held } }),
    },
    agreed: Object.fromEntries(known.map((path) => [path, row.before[path]!])),
    forgets: paths.filter((path) => !row.before[path]),
    before: Object.fromEntries(paths.map((path) => [path, base[path] ?? null])),
  };
}

/** Removes what was made, as long as it is as it was made. A record that the remote had before is only let go. */
function unmade(row: PlanRow, remoteId: string | null, book: Book): Omit<Inverse, 'reason'> {
  const side = row.side ?? 'local';
  const pair = remoteId === null ? undefined : book.pairs.get(remoteId);
  if (side === 'remote' && remoteId !== null && pair?.origin === 'linked') {
    return { action: 'unlink', expects: { pair: 'linked' }, drops: [remoteId] };
  }
  const held = heldNow(row, remoteId, book, side);
  return {
    action: 'delete',
    side,
    diff: Object.fromEntries(Object.entries(held).map(([path, old]) => [path, { old, new: null }])),
    expects: {
      pair: 'linked',
      ...(side === 'local'
        ? { card: { there: true, fields: held } }
        : { record: { there: true, fields: held } }),
    },
    drops: remoteId === null ? [] : [remoteId],
  };
}

/**
 * An archived card is restored; a record is made anew, under a new key, and its card stays gone. The other side is gone as it
 * was before, so that the next run proposes the removal again.
 */
function madeAgain(row: PlanRow, book: Book, runId: string): Omit<Inverse, 'reason'> {
  const agreed = Object.fromEntries(
    Object.entries(row.before).flatMap(([path, one]) => (one ? [[path, one] as const] : [])),
  );
  const gone: Side = row.side === 'local' ? 'remote' : 'local';
  const state: PairState =
    row.state?.kind === 'removed' ? { ...row.state, kind: 'quarantined' } : { kind: 'ended', gone };
  const common = { agreed, origin: row.origin, side: row.side, state };
  if (row.side === 'local') {
    const pair = row.remoteId !== null && book.pairs.has(row.remoteId) ? 'removed' : 'none';
    return { ...common, action: 'restore', expects: { pair, card: { there: false, fields: {} } } };
  }
  const diff = Object.fromEntries(
    Object.entries(row.diff).flatMap(([path, { old }]) =>
      canonical(old) === null ? [] : [[path, { old: null, new: old }] as const],
    ),
  );
  const restored = row.remoteId === null ? null : { runId, no: row.no, remoteId: row.remoteId };
  return { ...common, action: 'create', remoteId: null, diff, restored, expects: { unbound: true } };
}

/** A card that came back with its record is archived again, and the next run finds that its record is there. */
function archivedAgain(row: PlanRow, book: Book): Omit<Inverse, 'reason'> {
  const base = (row.remoteId === null ? undefined : book.pairs.get(row.remoteId))?.base ?? {};
  const held = Object.fromEntries(Object.entries(base).map(([path, { local }]) => [path, local]));
  return {
    action: 'delete',
    side: 'local',
    diff: Object.fromEntries(Object.entries(held).map(([path, old]) => [path, { old, new: null }])),
    expects: { pair: 'linked', card: { there: true, fields: held } },
    state: row.was,
  };
}
