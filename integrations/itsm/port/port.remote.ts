import type { Connector, RemoteValues } from '../connectors/connector.ts';
import { changedColumn } from '../connectors/safe-write.ts';
import type { AgreedLink, Mapping } from '../engine/model.types.ts';
import type { EnginePort, RemoteAnswer, RemoteState, RemoteWrite, Trace } from '../engine/plan.types.ts';
import type { Value } from '../engine/values.ts';
import { isRemoteError, type RemoteErrorCode } from '../remote.errors.ts';
import type { RemoteRecord } from '../remote.types.ts';
import type { Removals } from './port.removed.ts';

/** Failures that concern one record alone; the run goes on with the others. */
const ofTheRow: ReadonlySet<RemoteErrorCode> = new Set(['refused', 'forbidden', 'not_found', 'ambiguous']);

type RemotePort = Pick<EnginePort, 'readRemote' | 'writeRemote' | 'trace'>;

/** The remote's half of what applying needs, through a connector. What is not about one row is thrown: RemoteError. */
export function remotePort(connector: Connector, mapping: Mapping, removals?: Removals): RemotePort {
  const columns = [...new Set(mapping.fields.map(({ remote }) => remote))];
  const endsOf = ({ relationType, source, target }: AgreedLink) => {
    const kind = mapping.relations.find((one) => one.relationType === relationType);
    if (!kind) return undefined;
    return kind.reversed
      ? ([kind.remoteType, target, source] as const)
      : ([kind.remoteType, source, target] as const);
  };

  const write = async (what: RemoteWrite, mark: string, seen: RemoteRecord | null): Promise<RemoteAnswer> => {
    if (what.kind === 'create' || what.kind === 'update') {
      const restored = what.kind === 'create' ? what.restored : undefined;
      const held = restored && removals ? await removals.heldOf(restored) : undefined;
      if (held === null) {
        const message = 'What the record held beside the mapped fields was not kept before it was deleted.';
        return { kind: 'refused', message: `${message} It would come back without it, so nothing is made.` };
      }
      const values = { ...held?.values, ...columnValues(what.values) };
      const written =
        what.kind === 'create'
          ? await connector.create(what.table, values, mark).catch(answerTo)
          : await connector.update(what.table, what.id, values, seen?.version, seen?.fields).catch(answerTo);
      if ('kind' in written) return written;
      const { record, recovered, notice } = written;
      const adopted = what.kind === 'create' && (written.adopted ?? (await wasThere(what.table, record.id)));
      const back = held && restored && (await removals!.relate(restored, held, record));
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
    async trace(what, mark): Promise<Trace> {
      if (what.kind === 'create') {
        const record = await connector.findCreated(what.table, mark);
        if (!record) return { kind: 'absent' };
        const held = what.restored && removals && (await removals.heldOf(what.restored));
        const notice = held && (await removals!.relate(what.restored!, held, record));
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

const doneWithout: RemoteAnswer = { kind: 'done', record: null };

/** The answer that an error of a single row is. @throws what is not about one row. */
function answerTo(error: unknown): RemoteAnswer {
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
