import type { Clock } from '../../clock.ts';
import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { Connector, RemoteValues, Written } from '../connector.ts';
import { createSurely, type Sure, unlessChanged } from '../surely.ts';
import type { Call, Transport } from '../transport.ts';
import type { ServiceNowConfig } from './config.ts';
import { overwritten } from './overwritten.ts';
import { where } from './query.ts';
import type { Reading } from './reading.ts';
import { CHANGES, recordOf, recordsOf, systemColumns } from './records.ts';

const RELATIONS = 'cmdb_rel_ci';
/** What relations lead from and to. */
const ITEMS = 'cmdb_ci';
/** Where the answer to a new relation shows its ends: empty for what is gone, though the instance takes its key. */
const endPaths = { from: 'parent.sys_id', to: 'child.sys_id' } as const;

/** A way in that finds a record again by itself, and may take one that is there for the new one. */
type Door = { kind: 'import_set'; staging: string } | { kind: 'reconcile'; source: string };

/** The record in which a door has put what it was given. */
interface Arrived {
  id: string;
  /** It had been there before; missing where the answer does not tell. */
  adopted?: boolean;
}

/** A relation that was made, and the keys of ends of which the answer does not show that they are there. */
interface Related {
  id: string;
  doubtful: string[];
}

export type Writing = Pick<
  Connector,
  'create' | 'findCreated' | 'update' | 'delete' | 'createRelation' | 'deleteRelation'
> &
  Required<Pick<Connector, 'adopted' | 'findRelation'>>;

const UNSEEN =
  'Somebody changed the record between the last look and this write. The instance does not show what was changed: see its history.';

const textsOf = (values: RemoteValues): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? '' : String(value)]),
  );

export function createWriting(
  transport: Transport,
  reading: Reading,
  { config, clock, signal }: { config: ServiceNowConfig; clock: Clock; signal?: AbortSignal },
): Writing {
  const pathOf = (table: string, id?: string): string =>
    `/api/now/v2/table/${encodeURIComponent(table)}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;
  const answerWith = (fields: string[]) => () => ({
    sysparm_fields: [...new Set([...systemColumns, CHANGES, ...fields])].join(','),
    sysparm_display_value: 'all',
    sysparm_exclude_reference_link: 'true',
  });

  const surely = createSurely({
    transport,
    clock,
    settleMs: config.settleMs,
    ...(signal ? { signal } : {}),
  });

  /** The one record whose columns hold these values. */
  const oneOf = async (
    table: string,
    values: Record<string, string>,
    fields: string[],
  ): Promise<Result<RemoteRecord | null>> => {
    const names = Object.keys(values);
    const all = [...new Set([...names, ...fields])];
    const answer = await transport.send({
      method: 'GET',
      path: pathOf(table),
      doing: `Looking up a record of ${table}`,
      query: () => ({
        ...answerWith(all)(),
        sysparm_query: [
          ...names.map((name) => where(name, '=', values[name]!)),
          'ORDERBYsys_created_on',
        ].join('^'),
        sysparm_limit: '2',
      }),
    });
    if (!answer.ok) return answer;
    const records = recordsOf(table, answer.value.result, all);
    // a condition on a column that is not there is passed over by the remote, and any record would fit
    const ignored = names.find((name) => records.some(({ fields }) => fields[name]?.value !== values[name]));
    if (ignored !== undefined) {
      const what = `The records of ${table} cannot be looked up by ${ignored}: the column is missing or hidden`;
      return failed('refused', `table ${table}`, what);
    }
    if (records.length > 1) {
      return failed(
        'ambiguous',
        `table ${table}`,
        `Several records of ${table} have the same ${names.join(', ')}`,
      );
    }
    // it is there, and nobody may make another one because it is not shown
    if ((answer.value.total ?? 0) > records.length) {
      const what = `A record of ${table} with this ${names.join(', ')} is kept from the account`;
      return failed('answer_lost', `table ${table}`, what);
    }
    return done(records[0] ?? null);
  };

  const byCorrelation = async (
    table: string,
    correlation: string,
    fields: string[],
  ): Promise<Result<RemoteRecord | null>> => {
    // an empty value would find every record that nobody made
    if (correlation === '') throw new Error('a correlation id must not be empty');
    return oneOf(table, { [config.correlationField]: correlation }, fields);
  };

  const recordFrom =
    (table: string, fields: string[]) =>
    (result: unknown): Result<RemoteRecord> => {
      const record = recordOf(table, result, fields);
      // the remote has answered, but shows nothing of what it has stored
      return record
        ? done(record)
        : failed('answer_lost', `table ${table}`, 'The answer to the write shows no record');
    };

  const createByTable = async (
    table: string,
    values: RemoteValues,
    correlation: string,
  ): Promise<Result<Written>> => {
    const fields = Object.keys(values);
    const written = await surely(
      {
        method: 'POST',
        path: pathOf(table),
        doing: `Creating a record of ${table}`,
        query: answerWith(fields),
        body: { ...textsOf(values), [config.correlationField]: correlation },
      },
      () => byCorrelation(table, correlation, fields),
      recordFrom(table, fields),
    );
    return written.ok ? done({ record: written.value.value, recovered: written.value.recovered }) : written;
  };

  /** Doors that find a record again by themselves: sending twice does nothing twice. */
  const createByDoor = async (
    table: string,
    values: RemoteValues,
    correlation: string,
    door: Door,
  ): Promise<Result<Written>> => {
    const doing = `Creating a record of ${table}`;
    const call: Call =
      door.kind === 'import_set'
        ? {
            method: 'POST',
            path: `/api/now/import/${encodeURIComponent(door.staging)}`,
            doing,
            body: { ...textsOf(values), [config.correlationField]: correlation },
          }
        : {
            method: 'POST',
            path: '/api/now/identifyreconcile',
            doing,
            query: () => ({ sysparm_data_source: door.source }),
            body: {
              items: [
                {
                  className: table,
                  values: { ...textsOf(values), [config.correlationField]: correlation },
                  sys_object_source_info: {
                    source_name: door.source,
                    source_native_key: correlation,
                  },
                },
              ],
              relations: [],
            },
          };
    const fields = Object.keys(values);
    const readAnswer = door.kind === 'import_set' ? imported : reconciled;
    const written = await surely<Arrived>(
      call,
      async () => {
        const found = await byCorrelation(table, correlation, fields);
        return found.ok ? done(found.value ? { id: found.value.id } : null) : found;
      },
      (result) => readAnswer(result, call.path, doing),
    );
    if (!written.ok) return written;
    const { id, ...arrived } = written.value.value;
    const looks = await reading.readByIds(table, [id], fields);
    if (!looks.ok) return looks;
    const look = looks.value.get(id);
    if (look?.kind !== 'there') {
      return failed('not_found', call.path, `${doing} was done, but the record is not shown to the account`);
    }
    return done({ record: look.record, recovered: written.value.recovered, ...arrived });
  };

  /** By which way new records of a table go in, where that is not the table itself. */
  const doorOf = (table: string): Door | undefined => {
    const { door } = config;
    if (door.kind === 'reconcile') return door;
    if (door.kind !== 'import_set' || !Object.hasOwn(door.staging, table)) return undefined;
    return { kind: 'import_set', staging: door.staging[table]! };
  };

  /** Writes values into a record, and looks at it before that is done again. @param seen what it held before. */
  const change = (
    table: string,
    id: string,
    wanted: Record<string, string>,
    seen: RemoteRecord['fields'] | undefined,
  ): Promise<Result<Sure<RemoteRecord>>> => {
    const fields = Object.keys(wanted);
    const doing = `Changing a record of ${table}`;
    return surely<RemoteRecord>(
      {
        method: 'PATCH',
        path: pathOf(table, id),
        doing,
        query: answerWith(fields),
        body: wanted,
      },
      async () => {
        const looks = await reading.readByIds(table, [id], fields);
        if (!looks.ok) return looks;
        const look = looks.value.get(id);
        if (look?.kind === 'gone')
          return failed('not_found', pathOf(table, id), `The record of ${table} is gone`);
        const stands =
          look?.kind === 'there' && fields.every((name) => look.record.fields[name]?.value === wanted[name]);
        if (stands) return done(look.record);
        const record = look?.kind === 'there' ? look.record : undefined;
        return unlessChanged({ where: pathOf(table, id), doing }, record, seen, fields);
      },
      recordFrom(table, fields),
    );
  };

  const remove = async (
    table: string,
    id: string,
    doing: string,
    seen?: RemoteRecord['fields'],
  ): Promise<Result<boolean>> => {
    const columns = Object.keys(seen ?? {});
    const removed = await surely<boolean>(
      { method: 'DELETE', path: pathOf(table, id), doing },
      async () => {
        const looks = await reading.readByIds(table, [id], columns);
        if (!looks.ok) return looks;
        const look = looks.value.get(id);
        if (look?.kind === 'gone') return done(true);
        const record = look?.kind === 'there' ? look.record : undefined;
        return unlessChanged({ where: pathOf(table, id), doing }, record, seen, columns);
      },
      () => done(true),
    );
    if (removed.ok) return done(removed.value.value);
    if (removed.failure.code !== 'not_found') return removed;
    // what is kept from the account is answered the same as what is gone
    const looks = await reading.readByIds(table, [id], []);
    if (!looks.ok) return looks;
    return looks.value.get(id)?.kind === 'gone' ? done(false) : removed;
  };

  const findRelation = async (type: string, from: string, to: string): Promise<Result<string | null>> => {
    const found = await oneOf(RELATIONS, { parent: from, child: to, type }, []);
    return found.ok ? done(found.value?.id ?? null) : found;
  };

  return {
    findRelation,
    create(table, values, correlation) {
      const door = doorOf(table);
      return door
        ? createByDoor(table, values, correlation, door)
        : createByTable(table, values, correlation);
    },
    async adopted(table, id) {
      if (!doorOf(table)) return done(false);
      const looks = await reading.readByIds(table, [id], []);
      if (!looks.ok) return looks;
      const look = looks.value.get(id);
      // a record that was there has at least been given the correlation id; where it is not told, it is not ours to remove
      return done(look?.kind !== 'there' || look.record.version !== '0');
    },
    findCreated: (table, correlation) => byCorrelation(table, correlation, []),
    async update(table, id, values, version, seen) {
      const wanted = textsOf(values);
      const doing = `Changing a record of ${table}`;
      const written = await change(table, id, wanted, seen);
      if (!written.ok) return written;
      const { value: record, recovered } = written.value;
      const theirs = await overwritten(transport, record, { wanted, version, seen });
      if (!theirs.ok) return theirs;
      if (theirs.value === 'unknown') return done({ record, recovered, notice: UNSEEN });
      const columns = Object.keys(theirs.value);
      if (columns.length === 0) return done({ record, recovered });
      const back = await change(table, id, theirs.value, record.fields);
      if (!back.ok) return back;
      const what = `${doing} met a change of ${columns.join(', ')} at the same moment, which was put back`;
      return failed('changed_meanwhile', pathOf(table, id), what);
    },
    delete: (table, id, _version, seen) => remove(table, id, `Deleting a record of ${table}`, seen),
    async createRelation(type, from, to) {
      const written = await surely<Related>(
        {
          method: 'POST',
          path: pathOf(RELATIONS),
          doing: 'Creating a relation',
          query: () => ({ sysparm_fields: ['sys_id', ...Object.values(endPaths)].join(',') }),
          body: { type, parent: from, child: to },
        },
        async () => {
          const found = await findRelation(type, from, to);
          return found.ok
            ? done(found.value === null ? null : { id: found.value, doubtful: [from, to] })
            : found;
        },
        (result) => related(result, from, to),
      );
      if (!written.ok) return written;
      const { id, doubtful } = written.value.value;
      if (doubtful.length === 0) return done(id);
      const looks = await reading.readByIds(ITEMS, doubtful, []);
      if (!looks.ok) return looks;
      const gone = doubtful.find((end) => looks.value.get(end)?.kind === 'gone');
      if (gone === undefined) return done(id);
      const taken = await remove(RELATIONS, id, 'Taking back a relation');
      if (!taken.ok) return taken;
      return failed(
        'not_found',
        pathOf(ITEMS, gone),
        'Creating a relation was taken back: the record at its end is gone',
      );
    },
    deleteRelation: (id) => remove(RELATIONS, id, 'Deleting a relation'),
  };
}

function related(result: unknown, from: string, to: string): Result<Related> {
  const row = (result ?? {}) as Record<string, unknown>;
  if (typeof row.sys_id !== 'string') return failed('answer_lost', RELATIONS, 'The answer shows no relation');
  const isShown = { [from]: row[endPaths.from] === from, [to]: row[endPaths.to] === to };
  return done({ id: row.sys_id, doubtful: [from, to].filter((end) => !isShown[end]) });
}

function imported(result: unknown, path: string, doing: string): Result<Arrived> {
  // the answer's `result` is the list of transformed rows
  const [row] = Array.isArray(result) ? (result as Record<string, unknown>[]) : [];
  if (row?.status === 'error') {
    return failed(
      'refused',
      path,
      `${doing} was refused by the transform map (${String(row.error_message ?? row.status_message ?? 'no reason given')})`,
    );
  }
  if (row !== undefined && row.status !== undefined && typeof row.sys_id !== 'string') {
    const why = String(row.status_message ?? row.status);
    return failed('refused', path, `${doing} was passed over by the transform map (${why})`);
  }
  return typeof row?.sys_id === 'string'
    ? done({ id: row.sys_id, adopted: row.status !== 'inserted' })
    : failed('answer_lost', path, `${doing} was answered without a record`);
}

function reconciled(result: unknown, path: string, doing: string): Result<Arrived> {
  const { items } = (result ?? {}) as {
    items?: { sysId?: string; operation?: string; errors?: { error?: string; message?: string }[] }[];
  };
  const [item] = items ?? [];
  const error = item?.errors?.[0];
  if (error) {
    const code = error.error === 'MULTIPLE_DUPLICATE_RECORDS' ? 'ambiguous' : 'refused';
    return failed(code, path, `${doing} was refused by identification (${error.message ?? error.error})`);
  }
  return item?.sysId && item.sysId !== 'Unknown'
    ? done({ id: item.sysId, adopted: item.operation !== 'INSERT' })
    : failed('answer_lost', path, `${doing} was answered without a record`);
}
