import { isRemoteError, RemoteError } from '../../remote.errors.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { Connector } from '../connector.ts';
import { foundBy } from '../paging.ts';
import { createSafeWrite, requireUnchanged, type SafelyWritten } from '../safe-write.ts';
import type { Transport } from '../transport.ts';
import { overwritten } from './audit.ts';
import type { ServiceNowConfig } from './config.ts';
import { pathOf } from './query.ts';
import type { Reading } from './reading.ts';
import { createCreating } from './writing.create.ts';
import { answerWith, findOne, recordFrom, textsOf, type WritingParts } from './writing.lookup.ts';

export type Writing = Pick<
  Connector,
  'create' | 'findCreated' | 'update' | 'delete' | 'createRelation' | 'deleteRelation'
> &
  Required<Pick<Connector, 'adopted' | 'findRelation'>>;

const RELATIONS = 'cmdb_rel_ci';
/** The table of records that relations connect. */
const ITEMS = 'cmdb_ci';

/** Writes records and relations of one instance, none twice. */
export function createWriting(transport: Transport, reading: Reading, config: ServiceNowConfig): Writing {
  const safeWrite = createSafeWrite(transport, config.settleMs);
  const parts: WritingParts = { transport, reading, config, safeWrite };
  const findRelation: Writing['findRelation'] = async (type, from, to) =>
    (await findOne(parts, RELATIONS, { parent: from, child: to, type }, []))?.id ?? null;

  return {
    ...createCreating(parts),

    async update(table, id, values, version, seen) {
      const wanted = textsOf(values);
      const { value: record, recovered } = await changeRecord(parts, { table, id }, wanted, seen);
      const theirs = await overwritten(transport, record, { wanted, version, seen });
      if (theirs === 'unknown') return { record, recovered, notice: UNSEEN };
      const columns = Object.keys(theirs);
      if (columns.length === 0) return { record, recovered };
      await changeRecord(parts, { table, id }, theirs, record.fields);
      const what = `Changing a record of ${table} met a change of ${columns.join(', ')} at the same moment, which was put back`;
      throw new RemoteError('changed_meanwhile', pathOf(table, id), what);
    },

    delete: (table, id, _version, seen) =>
      removeRecord(parts, { table, id, doing: `Deleting a record of ${table}` }, seen),

    findRelation,

    async createRelation(type, from, to) {
      const written = await safeWrite<Related>(
        {
          method: 'POST',
          path: pathOf(RELATIONS),
          doing: 'Creating a relation',
          query: () => ({ sysparm_fields: ['sys_id', ...Object.values(endPaths)].join(',') }),
          body: { type, parent: from, child: to },
        },
        async () => {
          const id = await findRelation(type, from, to);
          return id === null ? null : { id, doubtful: [from, to] };
        },
        (result) => related(result, from, to),
      );
      const { id, doubtful } = written.value;
      if (doubtful.length === 0) return id;
      const looks = await reading.readByIds(ITEMS, doubtful, []);
      const gone = doubtful.find((end) => looks.get(end)?.kind === 'gone');
      if (gone === undefined) return id;
      await removeRecord(parts, { table: RELATIONS, id, doing: 'Taking back a relation' });
      const what = 'Creating a relation was taken back: the record at its end is gone';
      throw new RemoteError('not_found', pathOf(ITEMS, gone), what);
    },

    deleteRelation: (id) => removeRecord(parts, { table: RELATIONS, id, doing: 'Deleting a relation' }),
  };
}

const UNSEEN =
  'Somebody changed the record between the last look and this write. The instance does not show what was changed: see its history.';

/** Writes values into a record. @param seen what it held before. */
async function changeRecord(
  { reading, safeWrite }: WritingParts,
  { table, id }: { table: string; id: string },
  wanted: Record<string, string>,
  seen: RemoteRecord['fields'] | undefined,
): Promise<SafelyWritten<RemoteRecord>> {
  const fields = Object.keys(wanted);
  const path = pathOf(table, id);
  const doing = `Changing a record of ${table}`;
  return await safeWrite<RemoteRecord>(
    { method: 'PATCH', path, doing, query: answerWith(fields), body: wanted },
    async () => {
      const look = (await reading.readByIds(table, [id], fields)).get(id);
      if (look?.kind === 'gone') throw new RemoteError('not_found', path, `The record of ${table} is gone`);
      const record = foundBy(look);
      if (record && fields.every((name) => record.fields[name]?.value === wanted[name])) return record;
      return requireUnchanged({ where: path, doing }, record, seen, fields);
    },
    recordFrom(table, fields),
  );
}

/**
 * Deletes a record, or a relation. @param seen what it held before.
 * @returns whether there was something to delete.
 */
async function removeRecord(
  { reading, safeWrite }: WritingParts,
  { table, id, doing }: { table: string; id: string; doing: string },
  seen?: RemoteRecord['fields'],
): Promise<boolean> {
  const columns = Object.keys(seen ?? {});
  const path = pathOf(table, id);
  const look = async (fields: string[]) => (await reading.readByIds(table, [id], fields)).get(id);
  try {
    await safeWrite<true>(
      { method: 'DELETE', path, doing },
      async () => {
        const found = await look(columns);
        if (found?.kind === 'gone') return true;
        return requireUnchanged({ where: path, doing }, foundBy(found), seen, columns);
      },
      () => true,
    );
    return true;
  } catch (error) {
    if (!isRemoteError(error, 'not_found')) throw error;
    // the instance answers the same for what is hidden from the account as for what is gone
    if ((await look([]))?.kind === 'gone') return false;
    throw error;
  }
}

/** The paths that show the ends of a new relation: empty for an end that is gone, though the instance accepts its key. */
const endPaths = { from: 'parent.sys_id', to: 'child.sys_id' } as const;

/** A new relation, and the keys of the ends that the response does not show to exist. */
interface Related {
  id: string;
  doubtful: string[];
}

function related(result: unknown, from: string, to: string): Related {
  const row = (result ?? {}) as Record<string, unknown>;
  if (typeof row.sys_id !== 'string')
    throw new RemoteError('answer_lost', RELATIONS, 'The answer shows no relation');
  const isShown = { [from]: row[endPaths.from] === from, [to]: row[endPaths.to] === to };
  return { id: row.sys_id, doubtful: [from, to].filter((end) => !isShown[end]) };
}
