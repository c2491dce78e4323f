/**
 * The predecessors of values. Every value that a user writes is unique in the history, and has the value that it replaced as its
 * predecessor. This shows whether two values are concurrent, and whether a missing value was lost or replaced.
 */
export interface Lineage {
  /** Adds a new value. @param previous the value that it replaces. */
  write(value: string, previous: string | null): void;
  /** The value may be missing, because of a decision or removal. */
  allowLoss(value: string): void;
  isBefore(earlier: string, later: string): boolean;
  /** Values that must still exist. */
  required(): string[];
}

export function createLineage(): Lineage {
  const parents = new Map<string, string>();
  const written = new Set<string>();
  const replaced = new Set<string>();
  const excused = new Set<string>();
  const isBefore = (earlier: string, later: string): boolean => {
    for (let value = parents.get(later); value !== undefined; value = parents.get(value)) {
      if (value === earlier) return true;
    }
    return false;
  };
  return {
    write(value, seen) {
      written.add(value);
      if (seen === null) return;
      parents.set(value, seen);
      replaced.add(seen);
    },
    allowLoss(value) {
      excused.add(value);
    },
    isBefore,
    required: () => [...written].filter((value) => !replaced.has(value) && !excused.has(value)),
  };
}
