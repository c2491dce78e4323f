import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import { counted } from '../../../platform/counted.ts';
import type { Sql } from '../../../platform/database.ts';
import type { Connector, RemoteColumn, RemoteRelation, RemoteValues } from '../connectors/connector.ts';
import { changedColumn } from '../connectors/safe-write.ts';
import type { AgreedLink } from '../engine/model.types.ts';
import type {
  EnginePort,
  PlanRow,
  RemoteState,
  RemoteWrite,
  RemoteWriteResult,
  Restored,
  WriteTrace,
} from '../engine/plan.types.ts';
import { canonical } from '../engine/values.ts';
import { isRemoteError, type RemoteErrorCode, type RemoteRecord, unless } from '../remote.ts';
import { readDeleted, recreatedAs, storeDeleted } from '../store/plan-rows.ts';

/** Failures that concern one record alone; the run goes on with the others. */
const ofTheRow: ReadonlySet<RemoteErrorCode> = new Set(['refused', 'forbidden', 'not_found', 'ambiguous']);

type RemotePort = Pick<EnginePort, 'readRemote' | 'writeRemote' | 'findWrite'>;

/** The remote's half of what applying needs, through a connector. What is not about one row is thrown: RemoteFailed. */
export function remotePort(connector: Connector, mapping: Mapping, removals?: Removals): RemotePort {
  const columns = [...new Set(mapping.fields.map(({ remote_field: remote }) => remote))];
  const endsOf = ({ relationType, source, target }: AgreedLink) => {
    const kind = mapping.relations.find((one) => one.relation_type_key === relationType);
    if (!kind) return undefined;
    return kind.reversed
      ? ([kind.remote_type, target, source] as const)
      : ([kind.remote_type, source, target] as const);
  };

  const write = async (
    what: RemoteWrite,
    mark: string,
    seen: RemoteRecord | null,
  ): Promise<RemoteWriteResult> => {
    if (what.kind === 'create' || what.kind === 'update') {
      const restored = what.kind === 'create' ? what.restored : undefined;
      const removed = restored && removals ? await removals.load(restored) : undefined;
      if (removed === null) {
        const message = 'The unmapped columns of the record were not stored before it was deleted.';
        return { kind: 'refused', message: `${message} It would come back without it, so nothing is made.` };
      }
      const values = { ...removed?.values, ...columnValues(what.values) };
      const written =
        what.kind === 'create'
          ? await connector.create(what.table, values, mark).catch(answerTo)
          : await connector.update(what.table, what.id, values, seen?.version, seen?.fields).catch(answerTo);
      if ('kind' in written) return written;
      const { record, recovered, notice } = written;
      const adopted = what.kind === 'create' && (written.adopted ?? (await wasThere(what.table, record.id)));
      const back = removed && restored && (await removals!.relate(restored, removed, record));
      const words = [notice, back].filter((one) => one !== undefined);
      const told = words.length === 0 ? {} : { notice: words.join(' ') };
      return { kind: 'done', record: await shown(record, values), found: recovered, adopted, ...told };
    }
    if (what.kind === 'delete') {
      if (seen && (await isOther(what, seen))) {
        return {
          kind: 'stale',
          message: 'Somebody changed it at the remote just before it was to be deleted.',
        };
      }
      return await connector
        .delete(what.table, what.id, seen?.version, seen?.fields)
        .then(() => doneWithout, answerTo);
    }
    const ends = endsOf(what.link);
    if (!ends) return { kind: 'refused', message: 'The mapping no longer has the relation type.' };
    if (what.kind === 'relate') {
      return await connector.createRelation(...ends).then(() => doneWithout, answerTo);
    }
    const found = what.link.relationId ?? (await relationId(ends));
    if (found === undefined) {
      return { kind: 'refused', message: 'The remote does not tell the key of the relation.' };
    }
    if (found === null) return { kind: 'done', record: null };
    return await connector.deleteRelation(found).then(() => doneWithout, answerTo);
  };

  /**
   * Whether a record has become another one since it was looked at with those around it. What is deleted cannot be looked at
   * afterwards, so it is looked at once more by itself: what somebody writes during the deletion alone goes unseen.
   */
  const isOther = async (what: { table: string; id: string }, seen: RemoteRecord): Promise<boolean> => {
    const names = Object.keys(seen.fields);
    const look = (await connector.readByIds(what.table, [what.id], names)).get(what.id);
    return look?.kind === 'there' && changedColumn(look.record.fields, seen.fields, names) !== undefined;
  };

  const wasThere = async (table: string, id: string): Promise<boolean> =>
    connector.adopted ? await connector.adopted(table, id) : false;

  /** The record as it was written: a column that is kept from the account comes back empty, whatever it holds. */
  const shown = async (record: RemoteRecord, values: RemoteValues): Promise<RemoteRecord> => {
    const isEmpty = (value: unknown) => value === undefined || value === null || value === '';
    const emptied = Object.keys(values).filter(
      (column) => !isEmpty(values[column]) && isEmpty(record.fields[column]?.value),
    );
    if (emptied.length === 0) return record;
    const hidden = await connector.withheldFields(record.table, emptied);
    const fields = hidden.map((column) => [column, { value: values[column]! }] as const);
    return { ...record, fields: { ...record.fields, ...Object.fromEntries(fields) } };
  };

  /** The key of a relation; null where there is none, undefined where the remote cannot be asked. */
  const relationId = async (ends: readonly [string, string, string]): Promise<string | null | undefined> =>
    connector.findRelation ? await connector.findRelation(...ends) : undefined;

  return {
    async readRemote(table, ids) {
      const looks = await connector.readByIds(table, [...ids], columns);
      return new Map(
        [...looks].map(([id, look]): [string, RemoteState] => [
          id,
          look.kind === 'unknown'
            ? { kind: 'unknown', message: 'it is not shown to the account of the connection' }
            : look,
        ]),
      );
    },
    writeRemote: (what, mark, seen) => write(what, mark, seen),
    async findWrite(what, mark): Promise<WriteTrace> {
      if (what.kind === 'create') {
        const record = await connector.findCreated(what.table, mark);
        if (!record) return { kind: 'absent' };
        const removed = what.restored && removals && (await removals.load(what.restored));
        const notice = removed && (await removals!.relate(what.restored!, removed, record));
        const adopted = await wasThere(what.table, record.id);
        return { kind: 'arrived', record, adopted, ...(notice ? { notice } : {}) };
      }
      const ends = what.kind === 'relate' ? endsOf(what.link) : undefined;
      const found = ends && (await relationId(ends));
      if (found === undefined) return { kind: 'unmarked' };
      return found === null ? { kind: 'absent' } : { kind: 'arrived', record: null };
    },
  };
}

const doneWithout: RemoteWriteResult = { kind: 'done', record: null };

/** The answer for an error about a single row. @throws all other errors. */
function answerTo(error: unknown): RemoteWriteResult {
  if (!isRemoteError(error)) throw error;
  if (error.code === 'answer_lost') return { kind: 'lost' };
  if (error.code === 'changed_meanwhile') return { kind: 'stale', message: error.message };
  if (ofTheRow.has(error.code)) return { kind: 'refused', message: error.message };
  throw error;
}

/** Values as columns take them: lists as their members with commas between, objects as JSON. */
const columnValues = (values: Record<string, Value>): RemoteValues =>
  Object.fromEntries(Object.entries(values).map(([column, value]) => [column, columnValue(value)]));

function columnValue(value: Value): RemoteValues[string] {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map((one) => columnValue(one) ?? '').join(',') : JSON.stringify(value);
}

/** The content of a deleted record, as far as the account can read and write it. */
interface RemovedContent {
  values: RemoteValues;
  relations: Pick<RemoteRelation, 'type' | 'from' | 'to'>[];
}

/** Relations of a page, and pages at most where the remote cannot be asked for those of some records. */
const PAGE = 1_000;
const MOST_PAGES = 200;

/** Stores the content of records before they are deleted, and restores it when a deletion is undone. */
interface Removals {
  store(rows: readonly PlanRow[]): Promise<void>;
  load(restored: Restored): Promise<RemovedContent | null>;
  /** Creates the relations of a recreated record. @returns a summary of what was restored and what was not. */
  relate(restored: Restored, removed: RemovedContent, record: RemoteRecord): Promise<string>;
}

export function createRemovals(
  { connector, table }: { connector: Connector; table: string },
  { sql, runId }: { sql: Sql; runId: string },
): Removals {
  /** Ids of records recreated by this process, by their former id. */
  const recreated = new Map<string, string>();
  let columns: string[] | null | undefined;
  return {
    async store(rows) {
      const ids = rows.flatMap(({ remoteId }) => remoteId ?? []);
      columns ??= writable(await shown(connector.describeFields(table)));
      // without readable columns nothing is stored, and the deletion cannot be undone
      if (columns === null) return;
      const looks = await connector.readByIds(table, ids, columns);
      const relations = await relationsOf(connector, new Set(ids));
      const stored = rows.flatMap(({ no, remoteId }) => {
        const look = looks.get(remoteId ?? '');
        if (look?.kind !== 'there') return [];
        const removed: RemovedContent = {
          values: valuesOf(look.record),
          relations: relations.filter(({ from, to }) => from === remoteId || to === remoteId),
        };
        return [{ no, removed }];
      });
      await storeDeleted(sql, runId, stored);
    },
    load: async ({ runId: of, no }) => await readDeleted<RemovedContent>(sql, of, no),
    async relate({ remoteId }, removed, record) {
      recreated.set(remoteId, record.id);
      let related = 0;
      const lacking: string[] = [];
      for (const { type, from, to } of removed.relations) {
        const other = from === remoteId ? to : from;
        const { id, isPending } = recreated.has(other)
          ? { id: recreated.get(other)!, isPending: false }
          : await recreatedAs(sql, runId, other);
        // the row that recreates the other record creates the relation
        if (isPending) continue;
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
      const sent = Object.entries(removed.values);
      for (const [column, value] of sent) {
        const shown = record.fields[column];
        if (shown && String(shown.value ?? '') !== String(value ?? '')) lacking.push(column);
      }
      const came = `Came back under a new key, with ${counted(sent.length, 'value')} and ${counted(related, 'relation')}.`;
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
    const answer: Awaited<typeof page> | null = await shown(page);
    if (answer === null) break;
    const { relations, next } = answer;
    found.push(...relations.filter(({ from, to }) => ids.has(from) || ids.has(to)));
    cursor = next;
    if (cursor === null) break;
  }
  return found;
}
