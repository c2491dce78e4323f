import type { RemoteRecord } from '../remote.types.ts';
import type { Agreed } from './book.types.ts';
import { compareField, type FieldState } from './compare.ts';
import type { FieldOutcome } from './compare.types.ts';
import type { FieldMapping, Path, Side } from './mapping.types.ts';
import { localFields, remoteFields } from './normalise.ts';
import type { LocalCard } from './observation.types.ts';
import { addRow, baseOf, type Planning, wait } from './plan.draft.ts';
import type { PlanRow } from './plan.types.ts';
import { canonical, same, told, type Value } from './values.ts';

/** A pair whose fields are to be compared. */
export interface Compared {
  remoteId: string;
  card: LocalCard;
  /** Undefined when the record has not changed since both sides last agreed. */
  record: RemoteRecord | undefined;
  base: Record<Path, Agreed>;
}

interface Field {
  field: FieldMapping;
  local: Value;
  remote: Value;
  outcome: FieldOutcome;
}

/** Compares all fields of a pair. Where the record was not read, it holds what it held when both agreed. */
export function compareFields(planning: Planning, pair: Compared): Field[] {
  const { mapping, seen, around } = planning;
  const { card, record, base } = pair;
  const locals = localFields(mapping, card);
  const remotes = record && remoteFields(mapping, record);
  const remoteAt = record ? Date.parse(record.updatedAt) - seen.remoteAheadMs : Number.NaN;
  return mapping.fields.flatMap((field): Field[] => {
    const { path } = field;
    if (!remotes && !base[path]) return [];
    const local = locals[path] ?? null;
    const remote = remotes ? (remotes[path] ?? null) : base[path]!.remote;
    const state: FieldState = {
      field,
      base: base[path],
      local,
      remote,
      changedAt: { local: moment(card.changedAt?.[path] ?? card.updatedAt), remote: known(remoteAt) },
      putBack: seen.putBack?.find(
        (one) =>
          one.remoteId === pair.remoteId &&
          one.path === path &&
          same(canonical(one.value), one.side === 'local' ? local : remote),
      )?.side,
      winner: chosen(planning, pair.remoteId, path, local, remote),
    };
    const outcome = compareField(state, mapping.direction, around);
    return [
      { field, local, remote, outcome: unlessRefused(planning, pair, { path, local, remote }, outcome) },
    ];
  });
}

/** A value that was refused before is not written again as it is, and a parent is never written that closes a circle. */
function unlessRefused(
  { seen, around }: Planning,
  { remoteId, card }: Compared,
  { path, local, remote }: { path: Path; local: Value; remote: Value },
  outcome: FieldOutcome,
): FieldOutcome {
  if (outcome.kind !== 'write') return outcome;
  const { side } = outcome;
  const parent = side === 'local' ? outcome.value : local;
  if (path === 'parent_id' && typeof parent === 'string' && around.makesCircle?.(card.id, parent)) {
    const reason = `'${path}' is not written, since the parents of both sides together would make a circle`;
    return { kind: 'conflict', reason };
  }
  const refusal = seen.refusals?.find(
    (one) =>
      one.remoteId === remoteId &&
      one.path === path &&
      one.side === side &&
      same(one.seen.local, local) &&
      same(one.seen.remote, remote),
  );
  return refusal ? { kind: 'refused', side, reason: refusal.reason } : outcome;
}

const known = (ms: number): number | null => (Number.isNaN(ms) ? null : ms);
const moment = (text: string): number | null => known(Date.parse(text));

/** A person's word on these very values. */
export function chosen(
  planning: Planning,
  remoteId: string,
  path: Path | null,
  local: Value,
  remote: Value,
): Side | undefined {
  return planning.seen.resolutions.find(
    (one) =>
      one.remoteId === remoteId &&
      one.path === path &&
      same(one.seen.local, local) &&
      same(one.seen.remote, remote),
  )?.winner;
}

/** What agrees already, and what is left to be written. */
export function agreedFields(fields: readonly Field[]): Record<Path, Agreed> {
  return Object.fromEntries(
    fields.flatMap(({ field, outcome }) =>
      outcome.kind === 'agree' ? [[field.path, outcome.agreed] as const] : [],
    ),
  );
}

/**
 * Adds the rows that bring a pair's fields together.
 * @param link the row that makes the two a pair, when that is part of this plan.
 */
export function planFields(planning: Planning, pair: Compared, fields: Field[], link: PlanRow | null): void {
  const ids = { remoteId: pair.remoteId, cardId: pair.card.id, needs: link?.no ?? null };
  const agreed = agreedFields(fields);
  const paths = Object.keys(agreed);
  if (!link && paths.length > 0) {
    const reason = `both sides say the same of ${paths.map((path) => `'${path}'`).join(', ')}`;
    const expects = { pair: 'linked' } as const;
    addRow(planning, { ...ids, action: 'agree', reason, expects, agreed, before: baseOf(pair.base, paths) });
  }
  for (const side of ['local', 'remote'] as const) planWrite(planning, pair, fields, side, ids);
  for (const { field, local, remote, outcome } of fields) {
    if (outcome.kind === 'conflict' || outcome.kind === 'refused') {
      const diff = { [field.path]: { old: local, new: remote } };
      const refusedBy = outcome.kind === 'refused' ? outcome.side : null;
      const { reason } = outcome;
      addRow(planning, { ...ids, action: 'conflict', reason, diff, path: field.path, refusedBy });
    } else if (outcome.kind === 'problem' || outcome.kind === 'held') {
      addRow(planning, { ...ids, action: 'skip', reason: outcome.reason, path: field.path });
    }
    if (outcome.kind === 'conflict' || outcome.kind === 'refused') planning.again.add(pair.remoteId);
    if (outcome.kind !== 'problem') continue;
    const { side, awaits, settled } = outcome;
    wait(planning, pair.remoteId, side, awaits);
    if (awaits === undefined) continue;
    const held = { local, remote };
    const known = pair.base[field.path] ?? null;
    planning.late.push({ ...ids, side, path: field.path, held, base: known, settled, awaits });
  }
}

type Ids = Pick<PlanRow, 'remoteId' | 'cardId' | 'needs'>;

function planWrite(planning: Planning, pair: Compared, fields: Field[], side: Side, ids: Ids): void {
  const row = { diff: {}, agreed: {}, settled: [] } as Pick<PlanRow, 'diff' | 'agreed' | 'settled'>;
  const sees = { local: {} as Record<Path, Value>, remote: {} as Record<Path, Value> };
  const reasons: string[] = [];
  for (const { field, local, remote, outcome } of fields) {
    if (outcome.kind !== 'write' || outcome.side !== side) continue;
    const { path } = field;
    const { value } = outcome;
    row.diff[path] = { old: side === 'local' ? local : remote, new: value };
    row.agreed[path] = side === 'local' ? { local: value, remote } : { local, remote: value };
    if (outcome.settled) row.settled.push(path);
    sees.local[path] = local;
    sees.remote[path] = remote;
    reasons.push(outcome.reason);
  }
  if (reasons.length === 0) return;
  addRow(planning, {
    ...ids,
    ...row,
    action: 'update',
    side,
    reason: reasons.join('; '),
    expects: {
      pair: 'linked',
      card: { there: true, fields: sees.local },
      ...(side === 'remote' && { record: { there: true, fields: sees.remote } }),
    },
    before: baseOf(pair.base, Object.keys(row.diff)),
  });
}

/** What one side holds that both have not agreed on, field by field; in words. What was not read has not moved. */
export function movedOn({ mapping }: Planning, { card, record, base }: Compared, side: Side): string[] {
  if (side === 'remote' && !record) return [];
  const values = side === 'local' ? localFields(mapping, card) : remoteFields(mapping, record!);
  return Object.entries(values).flatMap(([path, now]) => {
    const before = base[path]?.[side] ?? null;
    return same(now, before) ? [] : [`'${path}' from ${told(before)} to ${told(now)}`];
  });
}
