import { chunksOf } from '../../../../../platform/chunks.ts';
import { RemoteError, type RemoteTombstone, withFallback } from '../../remote.ts';
import { type Api, tryPaths } from './api.ts';
import { belowApi, idOf, isTable, microsOf, type Row } from './records.ts';

/** The path of the change log since 4.1, and before. */
const changeLogPaths = ['core/object-changes', 'extras/object-changes'];
const PAGE = 500;
const KEYS_PER_REQUEST = 50;
const OVERLAP_MS = 60_000;

/** An entry of the change log. */
interface Change {
  at: string;
  action: string;
  /** Such as `dcim.device`. */
  type: string;
  key: number;
  before: Row | null;
  after: Row | null;
}

/** The change log of NetBox, which is stored for 90 days by default. */
export interface ChangeLog {
  /** Changes with these actions to objects of these types since a time of the remote's clock, oldest first. */
  since(types: string[], actions: string[], time: string, withData: boolean): Promise<Change[]>;
  /** Which of these objects were deleted according to the log; none if the account may not read it. */
  deletedAmong(table: string, keys: number[]): Promise<Set<number>>;
  readDeletions(table: string, since: string): Promise<RemoteTombstone[]>;
}

export function createChangeLog(api: Api, types: ObjectTypes): ChangeLog {
  let knownPath: string | undefined;

  /** All matching entries, in the order in which they were created. */
  const read = async (conditions: [string, string][], withData: boolean): Promise<Change[]> => {
    const fields = ['id', 'time', 'action', 'changed_object_type', 'changed_object_id'];
    if (withData) fields.push('prechange_data', 'postchange_data');
    const rows = await tryPaths(knownPath ? [knownPath] : changeLogPaths, async (path) => {
      const options = { limit: PAGE, doing: 'Reading the change log' };
      const found = await api.all(path, [...conditions, ['fields', fields.join(',')]], options);
      knownPath = path;
      return found;
    });
    return rows.flatMap((row) => changeOf(row) ?? []);
  };

  const since: ChangeLog['since'] = async (wanted, actions, time, withData) => {
    const from = new Date(Date.parse(time) - OVERLAP_MS).toISOString();
    const found = await read(
      [
        ['time_after', from],
        ...actions.map((action): [string, string] => ['action', action]),
        ...wanted.map((type): [string, string] => ['changed_object_type', type]),
      ],
      withData,
    );
    // NetBox ignores unknown conditions
    return found.filter(
      ({ type, action, at }) => wanted.includes(type) && actions.includes(action) && at >= from,
    );
  };

  const findDeleted = async (table: string, keys: number[]): Promise<Set<number>> => {
    const type = await types.typeOf(table);
    const deleted = new Set<number>();
    for (const some of chunksOf(keys, KEYS_PER_REQUEST)) {
      const found = await read(
        [
          ['action', 'delete'],
          ['changed_object_type', type],
          ...some.map((key): [string, string] => ['changed_object_id', String(key)]),
        ],
        false,
      );
      for (const change of found)
        if (change.action === 'delete' && change.type === type) deleted.add(change.key);
    }
    return deleted;
  };

  return {
    since,
    // without the log no deletion is known
    deletedAmong: (table, keys) =>
      withFallback(findDeleted(table, keys), ['forbidden', 'not_found'], new Set<number>()),
    async readDeletions(table, time) {
      const found = await since([await types.typeOf(table)], ['delete'], time, false);
      return found.map(({ key, at }) => ({ table, id: idOf(table, key), at }));
    },
  };
}

function changeOf(row: Row): Change | undefined {
  const micros = microsOf(row.time);
  const action = (row.action as { value?: unknown } | null)?.value ?? row.action;
  const { changed_object_id: key, changed_object_type: type } = row;
  if (micros === undefined || typeof row.id !== 'number' || typeof key !== 'number') return undefined;
  return {
    at: new Date(Math.floor(micros / 1000)).toISOString(),
    action: String(action),
    type: String(type),
    key,
    before: (row.prechange_data ?? null) as Row | null,
    after: (row.postchange_data ?? null) as Row | null,
  };
}

/** The path of the object types since 4.4, since 4.0, and before. */
const objectTypePaths = ['core/object-types', 'extras/object-types', 'extras/content-types'];

/** The object type of a table in the change log: `dcim.device` for `dcim/devices`. */
export interface ObjectTypes {
  /** @throws RemoteError `not_found` */
  typeOf(table: string): Promise<string>;
}

interface Known {
  byTable: Map<string, string>;
  names: Set<string>;
}

export function createObjectTypes(api: Api): ObjectTypes {
  let known: Promise<Known> | undefined;

  const read = async (): Promise<Known> => {
    const options = { limit: PAGE, doing: 'Reading the object types' };
    const rows = await tryPaths(objectTypePaths, (path) => api.all(path, {}, options));
    const types = rows.map((row) => ({
      name: `${String(row.app_label)}.${String(row.model)}`,
      table: belowApi(row.rest_api_endpoint),
    }));
    const byTable = new Map(types.flatMap(({ name, table }) => (table === undefined ? [] : [[table, name]])));
    return { byTable, names: new Set(types.map(({ name }) => name)) };
  };

  return {
    async typeOf(table) {
      if (!isTable(table)) throw new RemoteError('not_found', `table ${table}`, `There is no table ${table}`);
      known ??= read().catch((error) => {
        known = undefined;
        throw error;
      });
      const { byTable, names } = await known;
      const name = byTable.get(table) ?? modelCandidates(table).find((guess) => names.has(guess));
      if (name !== undefined) return name;
      throw new RemoteError('not_found', `table ${table}`, `The object type of ${table} is unknown`);
    },
  };
}

/** Possible names of the model of an endpoint: the endpoint is its plural, with hyphens. */
function modelCandidates(table: string): string[] {
  const parts = table.split('/');
  const plural = parts.at(-1)!.replaceAll('-', '');
  const app = (parts.at(-2) ?? '').replaceAll('-', '_');
  return [
    plural.replace(/ies$/, 'y'),
    plural.replace(/es$/, ''),
    plural.replace(/s$/, ''),
    plural,
    plural.replace(/ses$/, 's'),
  ].map((model) => `${app}.${model}`);
}
