/**
 * Which value came from which. Every value that a person writes is new in the whole history, and remembers what that
 * person saw in its place. So it can be told whether two values were written without knowing of each other, and
 * whether a value that is nowhere to be found any more was lost or knowingly replaced.
 */
export interface Lineage {
  /** Notes a new value. @param seen what was in its place. */
  write(value: string, seen: string | null): void;
  /** The value went by a decision that was made with open eyes. */
  excuse(value: string): void;
  isBefore(earlier: string, later: string): boolean;
  /** Values that nobody replaced and no decision excuses. */
  standing(): string[];
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
    excuse(value) {
      excused.add(value);
    },
    isBefore,
    standing: () => [...written].filter((value) => !replaced.has(value) && !excused.has(value)),
  };
}
