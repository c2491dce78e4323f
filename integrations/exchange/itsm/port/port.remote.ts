import type { Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { counted } from '../../../../platform/counted.ts';
import type { Sql } from '../../../../platform/database.ts';
import type { Connector, Page, RemoteColumn, RemoteRelation, RemoteValues } from '../connectors/connector.ts';
import { pagesOf } from '../connectors/responses.ts';
import { changedColumn } from '../connectors/safe-write.ts';
import { canonical } from '../engine/fields.ts';
import type { AgreedLink } from '../engine/model.types.ts';
import type {
  EnginePort,
  PlanRow,
  RemoteWrite,
  RemoteWriteResult,
  Restored,
  WriteTrace,
} from '../engine/plan.types.ts';
import { isRemoteError, type RemoteErrorCode, type RemoteRecord, withFallback } from '../remote.ts';
import { findRecreated, readDeletedContent, storeDeletedContent } from '../store/plan-rows.ts';

/** Errors that concern one record only; the run continues with the others. */
const recordErrors: ReadonlySet<RemoteErrorCode> = new Set([
  'refused',
  'forbidden',
  'not_found',
  'ambiguous',
]);

type RemotePort = Pick<EnginePort, 'readRemote' | 'writeRemote' | 'findWrite'>;

/** The record with the sent values of hidden columns, which the remote returns as empty. */
async function withHiddenColumns(
  connector: Connector,
  record: RemoteRecord,
  values: RemoteValues,
): Promise<RemoteRecord> {
  const isEmpty = (value: unknown) => value === undefined || value === null || value === '';
  const emptied = Object.keys(values).filter(
    (column) => !isEmpty(values[column]) && isEmpty(record.fields[column]?.value),
  );
  if (emptied.length === 0) return record;
  const hidden = await connector.findHiddenColumns(record.table, emptied);
  const fields = hidden.map((column) => [column, { value: values[column]! }] as const);
  return { ...record, fields: { ...record.fields, ...Object.fromEntries(fields) } };
}

/** The remote methods of EnginePort, by a connector. @throws RemoteError for errors that do not concern a single row. */
export function remotePort(
  connector: Connector,
  mapping: Mapping,
  deletedContent: DeletedContentStore,
): RemotePort {
  const columns = [...new Set(mapping.fields.map(({ remote_field: remote }) => remote))];
  const endsOf = ({ relationType, source, target }: AgreedLink) => {
    const relation = mapping.relations.find((one) => one.relation_type_key === relationType);
    if (!relation) return undefined;
    const { remote_type: type, reversed } = relation;
    return reversed ? ([type, target, source] as const) : ([type, source, target] as const);
  };

  const write = async (
    what: RemoteWrite,
    correlationId: string,
    current: RemoteRecord | null,
  ): Promise<RemoteWriteResult> => {
    if (what.kind === 'create' || what.kind === 'update') {
      const restored = what.kind === 'create' ? what.restored : undefined;
      const removed = restored && (await deletedContent.load(restored));
      if (removed === null) {
        return refused(
          'The unmapped columns of the record were not stored before it was deleted. The record would be incomplete, so it is not created again.',
        );
      }
      const defaults = what.kind === 'create' ? columnValues(what.defaults) : {};
      const values = { ...defaults, ...removed?.values, ...columnValues(what.values) };
      const written =
        what.kind === 'create'
          ? await connector.create(what.table, values, correlationId).catch(resultOfError)
          : await connector
              .update(what.table, what.id, values, current?.version, current?.fields)
              .catch(resultOfError);
      if ('kind' in written) return written;
      const { record, isRecovered, notice } = written;
      const adopted =
        what.kind === 'create' &&
        (written.adopted ?? (await connector.wasAdopted?.(what.table, record.id)) ?? false);
      const summary =
        removed && restored && (await deletedContent.restoreRelations(restored, removed, record));
      const notices = [notice, summary].filter((one) => one !== undefined);
      return {
        kind: 'done',
        record: await withHiddenColumns(connector, record, values),
        found: isRecovered,
        adopted,
        ...(notices.length > 0 && { notice: notices.join(' ') }),
      };
    }
    if (what.kind === 'delete') {
      if (current && (await hasChanged(what, current))) {
        return { kind: 'stale', message: 'The record was changed just before it was to be deleted.' };
      }
      return await connector
        .delete(what.table, what.id, current?.version, current?.fields)
        .then(() => doneWithoutRecord, resultOfError);
    }
    const ends = endsOf(what.link);
    if (!ends) return refused('The mapping no longer has the relation type.');
    if (what.kind === 'relate') {
      return await connector.createRelation(...ends).then(() => doneWithoutRecord, resultOfError);
    }
    const found = what.link.relationId ?? (await connector.findRelation?.(...ends));
    if (found === undefined) return refused('The remote does not return the key of the relation.');
    if (found === null) return doneWithoutRecord;
    return await connector.deleteRelation(found).then(() => doneWithoutRecord, resultOfError);
  };

  /**
   * Whether a record has changed since its batch was read. It is read again right before a deletion, since a lost change cannot be
   * detected afterwards.
   */
  const hasChanged = async (what: { table: string; id: string }, current: RemoteRecord): Promise<boolean> => {
    const names = Object.keys(current.fields);
    const lookup = (await connector.readByIds(what.table, [what.id], names)).get(what.id);
    return (
      lookup?.kind === 'there' && changedColumn(lookup.record.fields, current.fields, names) !== undefined
    );
  };

  return {
    readRemote: (table, ids) => connector.readByIds(table, [...ids], columns),
    writeRemote: write,
    async findWrite(what, correlationId): Promise<WriteTrace> {
      if (what.kind === 'create') {
        const record = await connector.findCreated(what.table, correlationId);
        if (!record) return { kind: 'absent' };
        const removed = what.restored && (await deletedContent.load(what.restored));
        const notice = removed && (await deletedContent.restoreRelations(what.restored!, removed, record));
        const adopted = (await connector.wasAdopted?.(what.table, record.id)) ?? false;
        return { kind: 'executed', record, adopted, ...(notice ? { notice } : {}) };
      }
      const ends = what.kind === 'relate' ? endsOf(what.link) : undefined;
      const found = ends && (await connector.findRelation?.(...ends));
      if (found === undefined) return { kind: 'unsupported' };
      return found === null ? { kind: 'absent' } : { kind: 'executed', record: null };
    },
  };
}

const doneWithoutRecord: RemoteWriteResult = { kind: 'done', record: null };
const refused = (message: string): RemoteWriteResult => ({ kind: 'refused', message });

/** The result for an error that concerns a single row. @throws all other errors. */
function resultOfError(error: unknown): RemoteWriteResult {
  if (!isRemoteError(error)) throw error;
  if (error.code === 'response_lost') return { kind: 'lost' };
  if (error.code === 'changed_concurrently') return { kind: 'stale', message: error.message };
  if (recordErrors.has(error.code)) return refused(error.message);
  throw error;
}

/** Values in the form of columns: lists as comma-separated members, objects as JSON. */
const columnValues = (values: Record<string, Value>): RemoteValues =>
  Object.fromEntries(Object.entries(values).map(([column, value]) => [column, columnValue(value)]));

function columnValue(value: Value): RemoteValues[string] {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map((one) => columnValue(one) ?? '').join(',') : JSON.stringify(value);
}

/** The content of a deleted record, as far as the account can read and write it. */
interface DeletedContent {
  values: RemoteValues;
  relations: Pick<RemoteRelation, 'type' | 'from' | 'to'>[];
}

/** The number of relations in a page, and the maximum number of pages that are searched. */
const PAGE = 1_000;

const MAX_PAGES = 200;

/** Stores the content of records before they are deleted, and restores it when a deletion is undone. */
interface DeletedContentStore {
  store(rows: readonly PlanRow[]): Promise<void>;
  load(restored: Restored): Promise<DeletedContent | null>;
  /** Creates the relations of a recreated record. @returns a summary of what was restored and what was not. */
  restoreRelations(restored: Restored, removed: DeletedContent, record: RemoteRecord): Promise<string>;
}

export function createDeletedContentStore(
  { connector, table }: { connector: Connector; table: string },
  { sql, runId }: { sql: Sql; runId: string },
): DeletedContentStore {
  /** Ids of records recreated by this process, by their former id. */
  const recreated = new Map<string, string>();
  let columns: string[] | null | undefined;
  return {
    async store(rows) {
      const ids = rows.flatMap(({ remoteId }) => remoteId ?? []);
      columns ??= writableColumns(await ifReadable(connector.describeFields(table)));
      // without readable columns nothing is stored, and the deletion cannot be undone
      if (columns === null) return;
      const lookups = await connector.readByIds(table, ids, columns);
      const relations = await relationsOf(connector, new Set(ids));
      const stored = rows.flatMap(({ no, remoteId }) => {
        const lookup = lookups.get(remoteId ?? '');
        if (lookup?.kind !== 'there') return [];
        const removed: DeletedContent = {
          values: valuesOf(lookup.record),
          relations: relations.filter(({ from, to }) => from === remoteId || to === remoteId),
        };
        return [{ no, removed }];
      });
      await storeDeletedContent(sql, runId, stored);
    },
    load: async ({ runId: of, no }) => await readDeletedContent<DeletedContent>(sql, of, no),
    async restoreRelations({ remoteId }, removed, record) {
      recreated.set(remoteId, record.id);
      let related = 0;
      const missing: string[] = [];
      for (const { type, from, to } of removed.relations) {
        const other = from === remoteId ? to : from;
        const { id, isPending } = recreated.has(other)
          ? { id: recreated.get(other)!, isPending: false }
          : await findRecreated(sql, runId, other);
        // the row that recreates the other record creates the relation
        if (isPending) continue;
        const now = id ?? other;
        const ends = from === remoteId ? ([record.id, now] as const) : ([now, record.id] as const);
        try {
          const existing = await connector.findRelation?.(type, ...ends).catch(() => null);
          if ((existing ?? null) === null) await connector.createRelation(type, ...ends);
          related += 1;
        } catch (error) {
          if (!isRemoteError(error)) throw error;
          missing.push(`the relation to ${other} (${error.what})`);
        }
      }
      const sent = Object.entries(removed.values);
      for (const [column, value] of sent) {
        const shown = record.fields[column];
        if (shown && String(shown.value ?? '') !== String(value ?? '')) missing.push(column);
      }
      const summary = `Created again under a new key, with ${counted(sent.length, 'value')} and ${counted(related, 'relation')}.`;
      return missing.length === 0 ? summary : `${summary} Not restored: ${missing.join('; ')}.`;
    },
  };
}

const writableColumns = (columns: RemoteColumn[] | null): string[] | null =>
  columns?.flatMap(({ name, readonly }) => (readonly ? [] : [name])) ?? null;

/** The result of a read; null if the account may not read it. @throws RemoteError for errors that a retry may solve. */
const ifReadable = <T>(read: Promise<T>): Promise<T | null> =>
  withFallback(read, ['forbidden', 'not_found', 'refused'], null);

/** The filled values, without lists and objects, which a remote may not accept in the form in which it returns them. */
const valuesOf = ({ fields }: RemoteRecord): RemoteValues =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { value }]) => {
      const plain = canonical(value);
      return plain === null || typeof plain === 'object' ? [] : [[name, plain] as const];
    }),
  );

async function relationsOf(connector: Connector, ids: ReadonlySet<string>): Promise<RemoteRelation[]> {
  const found: RemoteRelation[] = [];
  const request = { types: [], since: null, limit: PAGE, ends: [...ids] };
  const readPage = async (cursor: string | null) =>
    (await ifReadable(connector.readRelations({ ...request, cursor }))) ?? { relations: [], next: null };
  let pages = 0;
  for await (const { relations } of pagesOf(readPage)) {
    found.push(...relations.filter(({ from, to }) => ids.has(from) || ids.has(to)));
    pages += 1;
    if (pages === MAX_PAGES) break;
  }
  return found;
}

/** The maximum number of pages of changed records that are read before applying; if there are more, all records are read by key. */
const CHANGED_PAGES = 10;

const CHANGED_PAGE = 1_000;

/** Records that have changed since they were read for the plan; null if unknown. */
export async function changedSinceRead(
  connector: Connector,
  table: string,
  filter: string | null,
  watermark: string | null,
): Promise<Set<string> | null> {
  if (watermark === null) return null;
  // changes at the time of the watermark have been read
  const since = new Date(Date.parse(watermark) + 1_000).toISOString();
  const changed = new Set<string>();
  let cursor: string | null = null;
  for (let pages = 0; pages < CHANGED_PAGES; pages += 1) {
    const read = connector.readSince({
      table,
      fields: [],
      filter: filter ?? undefined,
      limit: CHANGED_PAGE,
      cursor,
      since,
      overlapMs: 0,
    });
    // the account may read records, but not which have changed
    const page: Page | null = await withFallback(read, ['forbidden'], null);
    if (page === null) return null;
    for (const { id } of page.records) changed.add(id);
    cursor = page.next;
    if (cursor === null) return changed;
  }
  return null;
}
