import type { Sql } from '../../platform/database.ts';

/** Caches, in the memory of a process, the state that belongs to a topic version. */
export interface VersionedStore<T> {
  /** The state of the given version or a later one; read from `sql` if the cached one is older. */
  at(version: number, sql: Sql): Promise<T>;
}

/** A store of the state that `load` reads; concurrent callers share one read. */
export function createVersionedStore<T extends { version: number }>(
  load: (sql: Sql) => Promise<T>,
): VersionedStore<T> {
  let kept: T | undefined;
  let loading: { version: number; promise: Promise<T> } | undefined;
  return {
    async at(version, sql) {
      if (kept && kept.version >= version) return kept;
      if (!loading || loading.version < version) {
        const promise = load(sql);
        const mine = { version, promise };
        loading = mine;
        promise
          .then((loaded) => {
            if (!kept || loaded.version > kept.version) kept = loaded;
          })
          .catch(() => undefined)
          .finally(() => {
            if (loading === mine) loading = undefined;
          });
      }
      return await loading.promise;
    },
  };
}
