import { isRemoteError, RemoteError, type RemoteRecord } from '../../remote.ts';
import type { Connector, RemoteValues } from '../connector.ts';
import { inBrackets, recordIn } from '../responses.ts';
import {
  createSafeWrite,
  requireRecord,
  requireUnchanged,
  type SafeWrite,
  type SafeWriteResult,
} from '../safe-write.ts';
import type { Call, Transport } from '../transport.ts';
import { findOverwritten } from './audit.ts';
import { CHANGES, pathOf, type Reading, recordOf, recordsOf, systemColumns, where } from './reading.ts';
import type { CreateApi, ServiceNowConfig } from './session.ts';

export type Writing = Pick<
  Connector,
  'create' | 'findCreated' | 'update' | 'delete' | 'createRelation' | 'deleteRelation'
> &
  Required<Pick<Connector, 'wasAdopted' | 'findRelation'>>;

const RELATIONS = 'cmdb_rel_ci';
/** The table of records that relations connect. */
const ITEMS = 'cmdb_ci';

/** Writes records and relations of one instance, each write once. */
export function createWriting(transport: Transport, reading: Reading, config: ServiceNowConfig): Writing {
  const safeWrite = createSafeWrite(transport, config.settleMs);
  const parts: WritingParts = { transport, reading, config, safeWrite };
  const findRelation: Writing['findRelation'] = async (type, from, to) =>
    (await findOne(parts, RELATIONS, { parent: from, child: to, type }, []))?.id ?? null;

  return {
    ...createRecordCreation(parts),

    async update(table, id, values, version, seen) {
      const wanted = serializeValues(values);
      const { value: record, isRecovered } = await changeRecord(parts, { table, id }, wanted, seen);
      const overwritten = await findOverwritten(transport, record, { wanted, version, seen });
      if (overwritten === 'unknown') return { record, isRecovered, notice: OVERLAP_NOTICE };
      const columns = Object.keys(overwritten);
      if (columns.length === 0) return { record, isRecovered };
      await changeRecord(parts, { table, id }, overwritten, record.fields);
      const what = `Changing a record of ${table} overwrote a concurrent change of ${columns.join(', ')}, which was restored`;
      throw new RemoteError('changed_concurrently', pathOf(table, id), what);
    },

    delete: (table, id, _version, seen) =>
      removeRecord(parts, { table, id, doing: `Deleting a record of ${table}` }, seen),

    findRelation,

    async createRelation(type, from, to) {
      const written = await safeWrite<RelationResponse>(
        {
          method: 'POST',
          path: pathOf(RELATIONS),
          doing: 'Creating a relation',
          query: () => ({ sysparm_fields: ['sys_id', ...Object.values(endPaths)].join(',') }),
          body: { type, parent: from, child: to },
        },
        async () => {
          const id = await findRelation(type, from, to);
          return id === null ? null : { id, unconfirmed: [from, to] };
        },
        (result) => readRelationResponse(result, from, to),
      );
      const { id, unconfirmed } = written.value;
      if (unconfirmed.length === 0) return id;
      const lookups = await reading.readByIds(ITEMS, unconfirmed, []);
      const gone = unconfirmed.find((end) => lookups.get(end)?.kind === 'gone');
      if (gone === undefined) return id;
      await removeRecord(parts, { table: RELATIONS, id, doing: 'Deleting a new relation' });
      const what = 'The new relation was deleted again: the record at its end is gone';
      throw new RemoteError('not_found', pathOf(ITEMS, gone), what);
    },

    deleteRelation: (id) => removeRecord(parts, { table: RELATIONS, id, doing: 'Deleting a relation' }),
  };
}

const OVERLAP_NOTICE =
  'The record was changed between the last read and this write. The account cannot read what was changed: see the history of the record.';

/** Writes values into a record. @param seen its values before. */
async function changeRecord(
  { reading, safeWrite }: WritingParts,
  { table, id }: { table: string; id: string },
  wanted: Record<string, string>,
  seen: RemoteRecord['fields'] | undefined,
): Promise<SafeWriteResult<RemoteRecord>> {
  const fields = Object.keys(wanted);
  const path = pathOf(table, id);
  const doing = `Changing a record of ${table}`;
  return await safeWrite<RemoteRecord>(
    { method: 'PATCH', path, doing, query: responseColumns(fields), body: wanted },
    async () => {
      const lookup = (await reading.readByIds(table, [id], fields)).get(id);
      if (lookup?.kind === 'gone') throw new RemoteError('not_found', path, `The record of ${table} is gone`);
      const record = recordIn(lookup);
      if (record && fields.every((name) => record.fields[name]?.value === wanted[name])) return record;
      return requireUnchanged({ where: path, doing }, record, seen, fields);
    },
    recordFrom(table, fields),
  );
}

/**
 * Deletes a record, or a relation. @param seen its values before.
 * @returns whether it existed.
 */
async function removeRecord(
  { reading, safeWrite }: WritingParts,
  { table, id, doing }: { table: string; id: string; doing: string },
  seen?: RemoteRecord['fields'],
): Promise<boolean> {
  const columns = Object.keys(seen ?? {});
  const path = pathOf(table, id);
  const lookUp = async (fields: string[]) => (await reading.readByIds(table, [id], fields)).get(id);
  try {
    await safeWrite<true>(
      { method: 'DELETE', path, doing },
      async () => {
        const found = await lookUp(columns);
        if (found?.kind === 'gone') return true;
        return requireUnchanged({ where: path, doing }, recordIn(found), seen, columns);
      },
      () => true,
    );
    return true;
  } catch (error) {
    if (!isRemoteError(error, 'not_found')) throw error;
    // the instance does not distinguish hidden and missing records
    if ((await lookUp([]))?.kind === 'gone') return false;
    throw error;
  }
}

/** The paths to the ends of a new relation; empty for a missing record, whose key the instance accepts nevertheless. */
const endPaths = { from: 'parent.sys_id', to: 'child.sys_id' } as const;

/** A new relation, and the keys of the ends that the response does not confirm to exist. */
interface RelationResponse {
  id: string;
  unconfirmed: string[];
}

function readRelationResponse(result: unknown, from: string, to: string): RelationResponse {
  const row = (result ?? {}) as Record<string, unknown>;
  if (typeof row.sys_id !== 'string')
    throw new RemoteError('response_lost', RELATIONS, 'The response contains no relation');
  const isConfirmed = { [from]: row[endPaths.from] === from, [to]: row[endPaths.to] === to };
  return { id: row.sys_id, unconfirmed: [from, to].filter((end) => !isConfirmed[end]) };
}

/** Creates records, each once, and finds them by correlation id. */
function createRecordCreation(
  parts: WritingParts,
): Pick<Connector, 'create' | 'findCreated'> & Required<Pick<Connector, 'wasAdopted'>> {
  const { config, reading, transport, safeWrite } = parts;
  const findCreated = async (table: string, correlation: string, fields: string[] = []) => {
    // an empty value would match every record that was not created here
    if (correlation === '') throw new Error('a correlation id must not be empty');
    return await findOne(parts, table, { [config.correlationField]: correlation }, fields);
  };
  return {
    findCreated: (table, correlation) => findCreated(table, correlation),

    async create(table, given, correlation) {
      const fields = Object.keys(given);
      const values = { ...serializeValues(given), [config.correlationField]: correlation };
      const request = createRequest(config, { table, values, correlation });
      if (!request) {
        const doing = `Creating a record of ${table}`;
        const { value: record, isRecovered } = await safeWrite(
          { method: 'POST', path: pathOf(table), doing, query: responseColumns(fields), body: values },
          () => findCreated(table, correlation, fields),
          recordFrom(table, fields),
        );
        return { record, isRecovered };
      }
      const { call, read } = request;
      const { value, isRecovered } = await safeWrite<Created>(
        call,
        async () => {
          const found = await findCreated(table, correlation, fields);
          return found && { id: found.id };
        },
        (result) =>
          read(result, (code, why, message) => {
            const quoted = message === undefined ? '' : inBrackets(transport, String(message));
            return new RemoteError(code, call.path, `${call.doing} ${why}${quoted}`);
          }),
      );
      const { id, ...adopted } = value;
      const record = recordIn((await reading.readByIds(table, [id], fields)).get(id));
      if (record) return { record, isRecovered, ...adopted };
      const what = `${call.doing} was executed, but the record is hidden from the account`;
      throw new RemoteError('not_found', call.path, what);
    },

    async wasAdopted(table, id) {
      if (!identifyingApi(config, table)) return false;
      const record = recordIn((await reading.readByIds(table, [id], [])).get(id));
      // an existing record was at least updated with the correlation id; a hidden one must not be deleted
      return record?.version !== '0';
    },
  };
}

/** An API that identifies records by itself, and may use an existing one instead of creating one. */
type IdentifyingApi = { kind: 'import_set'; staging: string } | { kind: 'reconcile'; source: string };

/** The record that the API created or adopted. */
interface Created {
  id: string;
  /** Whether it existed before; undefined if the response does not report it. */
  adopted?: boolean;
}

type Refuse = (
  code: 'refused' | 'ambiguous' | 'response_lost',
  why: string,
  message?: unknown,
) => RemoteError;

/** The API that creates records of a table, if it is not the Table API. */
function identifyingApi(
  { createApi: api }: Pick<ServiceNowConfig, 'createApi'>,
  table: string,
): IdentifyingApi | undefined {
  if (api.kind === 'reconcile') return api;
  if (api.kind !== 'import_set' || !Object.hasOwn(api.staging, table)) return undefined;
  return { kind: 'import_set', staging: api.staging[table]! };
}

/** The request to an identifying API, and how its response is read; undefined for the Table API. */
function createRequest(
  config: { createApi: CreateApi },
  { table, values, correlation }: { table: string; values: Record<string, string>; correlation: string },
): { call: Call; read: (result: unknown, refuse: Refuse) => Created } | undefined {
  const api = identifyingApi(config, table);
  const doing = `Creating a record of ${table}`;
  switch (api?.kind) {
    case 'import_set': {
      const path = `/api/now/import/${encodeURIComponent(api.staging)}`;
      return { call: { method: 'POST', path, doing, body: values }, read: readImportResponse };
    }
    case 'reconcile': {
      const { source } = api;
      const item = {
        className: table,
        values,
        sys_object_source_info: { source_name: source, source_native_key: correlation },
      };
      return {
        call: {
          method: 'POST',
          path: '/api/now/identifyreconcile',
          doing,
          query: () => ({ sysparm_data_source: source }),
          body: { items: [item], relations: [] },
        },
        read: readReconcileResponse,
      };
    }
    default:
      return undefined;
  }
}

function readImportResponse(result: unknown, refuse: Refuse): Created {
  // the `result` of the response is the list of transformed rows
  const [row] = Array.isArray(result) ? (result as Record<string, unknown>[]) : [];
  if (row?.status === 'error') {
    const message = row.error_message ?? row.status_message ?? 'no reason given';
    throw refuse('refused', 'was refused by the transform map', message);
  }
  if (typeof row?.sys_id === 'string') return { id: row.sys_id, adopted: row.status !== 'inserted' };
  if (row?.status === undefined) throw refuse('response_lost', 'returned no record');
  throw refuse('refused', 'was skipped by the transform map', row.status_message ?? row.status);
}

function readReconcileResponse(result: unknown, refuse: Refuse): Created {
  const { items } = (result ?? {}) as {
    items?: { sysId?: string; operation?: string; errors?: { error?: string; message?: string }[] }[];
  };
  const [item] = items ?? [];
  const error = item?.errors?.[0];
  if (error) {
    const code = error.error === 'MULTIPLE_DUPLICATE_RECORDS' ? 'ambiguous' : 'refused';
    throw refuse(code, 'was refused by identification', error.message ?? error.error);
  }
  if (item?.sysId && item.sysId !== 'Unknown')
    return { id: item.sysId, adopted: item.operation !== 'INSERT' };
  throw refuse('response_lost', 'returned no record');
}

/** The dependencies of every write. */
interface WritingParts {
  transport: Transport;
  reading: Reading;
  config: ServiceNowConfig;
  safeWrite: SafeWrite;
}

/** The query for a response with these columns. */
const responseColumns = (fields: string[]) => () => ({
  sysparm_fields: [...new Set([...systemColumns, CHANGES, ...fields])].join(','),
  sysparm_display_value: 'false',
  sysparm_exclude_reference_link: 'true',
});

/** Values as they are written: null is an empty text. */
const serializeValues = (values: RemoteValues): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? '' : String(value)]),
  );

/** Reads the record in the response to a write. */
const recordFrom =
  (table: string, fields: string[]) =>
  (result: unknown): RemoteRecord =>
    requireRecord(table, recordOf(table, result, fields));

/**
 * The only record whose columns have these values; null if there is none.
 * @throws RemoteError `ambiguous` if there are several, `response_lost` if one is hidden from the account, `refused` if the
 * table cannot be queried by one of the columns.
 */
async function findOne(
  { transport }: Pick<WritingParts, 'transport'>,
  table: string,
  values: Record<string, string>,
  fields: string[],
): Promise<RemoteRecord | null> {
  const names = Object.keys(values);
  const all = [...new Set([...names, ...fields])];
  const { result, total = 0 } = await transport.send({
    method: 'GET',
    path: pathOf(table),
    doing: `Looking up a record of ${table}`,
    query: () => ({
      ...responseColumns(all)(),
      sysparm_query: [...names.map((name) => where(name, '=', values[name]!)), 'ORDERBYsys_created_on'].join(
        '^',
      ),
      sysparm_limit: '2',
    }),
  });
  const records = recordsOf(table, result, all);
  const problem = (code: 'refused' | 'ambiguous' | 'response_lost', what: string) =>
    new RemoteError(code, `table ${table}`, what);
  // the remote ignores a condition on an unknown column, so that any record would match
  const ignoredColumn = names.find((name) =>
    records.some(({ fields }) => fields[name]?.value !== values[name]),
  );
  if (ignoredColumn !== undefined) {
    const what = `The records of ${table} cannot be looked up by ${ignoredColumn}: the column is missing or hidden`;
    throw problem('refused', what);
  }
  if (records.length > 1)
    throw problem('ambiguous', `Several records of ${table} have the same ${names.join(', ')}`);
  // a hidden record must not be created again
  if (total > records.length) {
    const what = `A record of ${table} with this ${names.join(', ')} is hidden from the account`;
    throw problem('response_lost', what);
  }
  return records[0] ?? null;
}
