import { heldBefore, keepHeld, restoredAs } from '../../../domain/exchange/itsm/plan.removed.ts';
import type { Sql } from '../../../platform/database.ts';
import type { Connector, RemoteColumn, RemoteRelation, RemoteValues } from '../connectors/connector.ts';
import type { PlanRow, Restored } from '../engine/plan.types.ts';
import { canonical } from '../engine/values.ts';
import { isRemoteError, unless } from '../remote.errors.ts';
import type { RemoteRecord } from '../remote.types.ts';

/** What a record held before it was deleted, as far as the remote shows it and takes it back. */
interface Held {
  values: RemoteValues;
  relations: Pick<RemoteRelation, 'type' | 'from' | 'to'>[];
}

/** Relations of a page, and pages at most where the remote cannot be asked for those of some records. */
const PAGE = 1_000;
const MOST_PAGES = 200;

/** Keeps what deletions take away, and brings it back when they are taken back. */
export interface Removals {
  keep(rows: readonly PlanRow[]): Promise<void>;
  heldOf(restored: Restored): Promise<Held | null>;
  /** Makes the relations of a record that was made anew. @returns what came back, and what did not, in words. */
  relate(restored: Restored, held: Held, record: RemoteRecord): Promise<string>;
}

export function createRemovals(
  { connector, table }: { connector: Connector; table: string },
  { sql, runId }: { sql: Sql; runId: string },
): Removals {
  /** By the key that it had, what was made anew by this process. */
  const anew = new Map<string, string>();
  let columns: string[] | null | undefined;
  return {
    async keep(rows) {
      const ids = rows.flatMap(({ remoteId }) => remoteId ?? []);
      columns ??= writable(await shown(connector.describeFields(table)));
      // what is not shown cannot be kept, and the deletion is not taken back then
      if (columns === null) return;
      const looks = await connector.readByIds(table, ids, columns);
      const relations = await relationsOf(connector, new Set(ids));
      const kept = rows.flatMap(({ no, remoteId }) => {
        const look = looks.get(remoteId ?? '');
        if (look?.kind !== 'there') return [];
        const held: Held = {
          values: valuesOf(look.record),
          relations: relations.filter(({ from, to }) => from === remoteId || to === remoteId),
        };
        return [{ no, held }];
      });
      await keepHeld(sql, runId, kept);
    },
    heldOf: async ({ runId: of, no }) => (await heldBefore(sql, of, no)) as Held | null,
    async relate({ remoteId }, held, record) {
      anew.set(remoteId, record.id);
      let related = 0;
      const lacking: string[] = [];
      for (const { type, from, to } of held.relations) {
        const other = from === remoteId ? to : from;
        const { id, isAwaited } = anew.has(other)
          ? { id: anew.get(other)!, isAwaited: false }
          : await restoredAs(sql, runId, other);
        // the row that makes the other one anew makes the relation
        if (isAwaited) continue;
        const now = id ?? other;
        const ends = from === remoteId ? ([record.id, now] as const) : ([now, record.id] as const);
        try {
          const known = await connector.findRelation?.(type, ...ends).catch(() => null);
          if ((known ?? null) === null) await connector.createRelation(type, ...ends);
          related += 1;
        } catch (error) {
          if (!isRemoteError(error)) throw error;
          lacking.push(`the relation to ${other} (${error.what})`);
        }
      }
      const sent = Object.entries(held.values);
      for (const [column, value] of sent) {
        const shown = record.fields[column];
        if (shown && String(shown.value ?? '') !== String(value ?? '')) lacking.push(column);
      }
      const came = `Came back under a new key, with ${sent.length} values and ${related} relations.`;
      return lacking.length === 0 ? came : `${came} Not as it was: ${lacking.join('; ')}.`;
    },
  };
}

const writable = (columns: RemoteColumn[] | null): string[] | null =>
  columns?.flatMap(({ name, readonly }) => (readonly ? [] : [name])) ?? null;

/** What the remote answers; null where it is not for this account. @throws RemoteError where another try may help. */
const shown = <T>(answer: Promise<T>): Promise<T | null> =>
  unless(answer, ['forbidden', 'not_found', 'refused'], null);

/** Values that are filled; a remote's own forms of several values cannot be sent back as they were read. */
const valuesOf = ({ fields }: RemoteRecord): RemoteValues =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { value }]) => {
      const plain = canonical(value);
      return plain === null || typeof plain === 'object' ? [] : [[name, plain] as const];
    }),
  );

async function relationsOf(connector: Connector, ids: ReadonlySet<string>): Promise<RemoteRelation[]> {
  const found: RemoteRelation[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = connector.readRelations({ types: [], since: null, limit: PAGE, cursor, ends: [...ids] });
    const told: Awaited<typeof page> | null = await shown(page);
    if (told === null) break;
    const { relations, next } = told;
    found.push(...relations.filter(({ from, to }) => ids.has(from) || ids.has(to)));
    cursor = next;
    if (cursor === null) break;
  }
  return found;
}
