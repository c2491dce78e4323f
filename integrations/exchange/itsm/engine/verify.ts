import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { describeDifference, writesOtherThanAgreed } from './apply.rows.ts';
import { canonical, mapValues, remoteFields } from './fields.ts';
import type { Pair, RecordLookup } from './model.types.ts';
import type { AppliedRow } from './plan.types.ts';

/** A state that differs from what an applied row has written. */
export interface Finding {
  no: number;
  message: string;
}

/**
 * Compares the present records with what applied rows have written to them. A finding is not necessarily an error of the run: a
 * user may have changed the value since, which the next run synchronises.
 */
export function verifyRows(
  mapping: Mapping,
  rows: readonly AppliedRow[],
  after: { pairs: ReadonlyMap<string, Pair>; records: ReadonlyMap<string, RecordLookup> },
): Finding[] {
  return rows.flatMap(({ row, createdId }) => {
    const remoteId = row.remoteId ?? createdId ?? '';
    const state = after.records.get(remoteId) ?? { kind: 'unknown' };
    const message =
      row.side === 'remote' && !row.link && state.kind !== 'unknown'
        ? findDifference(mapping, row, state, after.pairs.get(remoteId)?.base ?? {})
        : null;
    return message === null ? [] : [{ no: row.no, message }];
  });
}

function findDifference(
  mapping: Mapping,
  row: AppliedRow['row'],
  state: Exclude<RecordLookup, { kind: 'unknown' }>,
  base: Pair['base'],
): string | null {
  if (row.action === 'delete') return state.kind === 'there' ? 'The record still exists.' : null;
  if (state.kind === 'gone') return 'The record does not exist.';
  // if the remote has stored another form than it was sent, the base contains that form
  const expected = mapValues(row.agreed, (agreed, path) =>
    writesOtherThanAgreed(row, path) ? canonical(row.diff[path]!.new) : (base[path]?.remote ?? agreed.remote),
  );
  return describeDifference(expected, remoteFields(mapping, state.record));
}
