/** Counts what is in use, by key and in total. Keys without use take no memory. */
export function createUsage() {
  const byKey = new Map<string, number>();
  let total = 0;
  return {
    total: () => total,
    of: (key: string): number => byKey.get(key) ?? 0,
    /** Takes an amount. @returns a function that gives it back; only its first call counts. */
    take(key: string, amount = 1): () => void {
      total += amount;
      byKey.set(key, (byKey.get(key) ?? 0) + amount);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        total -= amount;
        const left = byKey.get(key)! - amount;
        if (left === 0) byKey.delete(key);
        else byKey.set(key, left);
      };
    },
  };
}
