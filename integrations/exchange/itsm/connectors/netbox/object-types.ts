import { RemoteError } from '../../remote.ts';
import { type Api, tryPaths } from './api.ts';
import { belowApi, isTable } from './ids.ts';

/** The path of the object types since 4.4, since 4.0, and before. */
const paths = ['core/object-types', 'extras/object-types', 'extras/content-types'];
const PAGE = 500;

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
    const rows = await tryPaths(paths, (path) => api.all(path, {}, options));
    const types = rows.map((row) => ({
      name: `${String(row.app_label)}.${String(row.model)}`,
      table: belowApi(row.rest_api_endpoint),
    }));
    return {
      byTable: new Map(types.flatMap(({ name, table }) => (table === undefined ? [] : [[table, name]]))),
      names: new Set(types.map(({ name }) => name)),
    };
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
