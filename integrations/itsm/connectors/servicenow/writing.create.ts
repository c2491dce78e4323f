import { RemoteError } from '../../remote.errors.ts';
import type { Connector } from '../connector.ts';
import { foundBy } from '../paging.ts';
import { inBrackets } from '../responses.ts';
import type { Call } from '../transport.ts';
import type { CreateApi, ServiceNowConfig } from './config.ts';
import { pathOf } from './query.ts';
import { answerWith, findOne, recordFrom, textsOf, type WritingParts } from './writing.lookup.ts';

/** Creates records, each once, and finds them again by the correlation id. */
export function createCreating(
  parts: WritingParts,
): Pick<Connector, 'create' | 'findCreated'> & Required<Pick<Connector, 'adopted'>> {
  const { config, reading, transport, safeWrite } = parts;
  const findCreated = async (table: string, correlation: string, fields: string[] = []) => {
    // an empty value would find every record that was not created here
    if (correlation === '') throw new Error('a correlation id must not be empty');
    return await findOne(parts, table, { [config.correlationField]: correlation }, fields);
  };
  return {
    findCreated: (table, correlation) => findCreated(table, correlation),

    async create(table, given, correlation) {
      const fields = Object.keys(given);
      const values = { ...textsOf(given), [config.correlationField]: correlation };
      const request = createRequest(config, { table, values, correlation });
      if (!request) {
        const doing = `Creating a record of ${table}`;
        const { value: record, recovered } = await safeWrite(
          { method: 'POST', path: pathOf(table), doing, query: answerWith(fields), body: values },
          () => findCreated(table, correlation, fields),
          recordFrom(table, fields),
        );
        return { record, recovered };
      }
      const { call, read } = request;
      const { value, recovered } = await safeWrite<Created>(
        call,
        async () => {
          const found = await findCreated(table, correlation, fields);
          return found && { id: found.id };
        },
        (result) =>
          read(result, (code, why, message) => {
            const said = message === undefined ? '' : inBrackets(transport, String(message));
            return new RemoteError(code, call.path, `${call.doing} ${why}${said}`);
          }),
      );
      const { id, ...adopted } = value;
      const record = foundBy((await reading.readByIds(table, [id], fields)).get(id));
      if (record) return { record, recovered, ...adopted };
      const what = `${call.doing} was done, but the record is not shown to the account`;
      throw new RemoteError('not_found', call.path, what);
    },

    async adopted(table, id) {
      if (!identifyingApi(config, table)) return false;
      const record = foundBy((await reading.readByIds(table, [id], [])).get(id));
      // an existing record has at least been given the correlation id; a hidden one is not ours to delete
      return record?.version !== '0';
    },
  };
}

/** An API that identifies records by itself, and may take an existing one for the new one. */
type IdentifyingApi = { kind: 'import_set'; staging: string } | { kind: 'reconcile'; source: string };

/** The record that the API created or adopted. */
interface Created {
  id: string;
  /** It existed before; missing if the response does not tell. */
  adopted?: boolean;
}

type Refuse = (code: 'refused' | 'ambiguous' | 'answer_lost', why: string, message?: unknown) => RemoteError;

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
      return { call: { method: 'POST', path, doing, body: values }, read: imported };
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
        read: reconciled,
      };
    }
    default:
      return undefined;
  }
}

function imported(result: unknown, refuse: Refuse): Created {
  // the `result` of the response is the list of transformed rows
  const [row] = Array.isArray(result) ? (result as Record<string, unknown>[]) : [];
  if (row?.status === 'error') {
    const message = row.error_message ?? row.status_message ?? 'no reason given';
    throw refuse('refused', 'was refused by the transform map', message);
  }
  if (typeof row?.sys_id === 'string') return { id: row.sys_id, adopted: row.status !== 'inserted' };
  if (row?.status === undefined) throw refuse('answer_lost', 'was answered without a record');
  throw refuse('refused', 'was passed over by the transform map', row.status_message ?? row.status);
}

function reconciled(result: unknown, refuse: Refuse): Created {
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
  throw refuse('answer_lost', 'was answered without a record');
}
