import { EstateError } from '../../../../platform/errors.ts';

/** Something that a merge had done and that has changed since. */
export interface MergeConflict {
  /** `card`, `relation`, `tag`, or what is attached. */
  entity: string;
  id: string;
  /** As events name it; null where it is all of the thing. */
  field: string | null;
  /** `changed`, `missing`, or the code of the refusal that it would meet. */
  code: string;
  message: string;
}

/** How many conflicts an answer names. */
const MAX_NAMED = 100;

export const changed = (entity: string, id: string, field: string | null): MergeConflict => ({
  entity,
  id,
  field,
  code: 'changed',
  message: field === null ? 'hangs on another card now' : `${field} was changed after the merge`,
});

export const missing = (entity: string, id: string, what = 'was deleted after the merge'): MergeConflict => ({
  entity,
  id,
  field: null,
  code: 'missing',
  message: what,
});

/** The refusal of an undoing that would not bring back everything. */
export function mergeConflict(conflicts: MergeConflict[]): EstateError {
  return new EstateError(
    'merge_conflict',
    `${conflicts.length} ${conflicts.length === 1 ? 'thing has' : 'things have'} changed since the merge.`,
    { extra: { conflict_count: conflicts.length, conflicts: conflicts.slice(0, MAX_NAMED) } },
  );
}
