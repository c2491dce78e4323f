import { done, failed, type Result } from '../../remote.failures.ts';
import type { Api } from './api.ts';
import { belowApi, isTable } from './ids.ts';

/** Where NetBox tells its object types: since 4.4, since 4.0, before. */
const places = ['core/object-types', 'extras/object-types', 'extras/content-types'];
const PAGE = 500;

/** `dcim.device` for `dcim/devices`, as the change log names what was changed. */
export interface ObjectTypes {
  typeOf(table: string): Promise<Result<string>>;
}

interface Known {
  byTable: Map<string, string>;
  names: Set<string>;
}

export function createObjectTypes(api: Api): ObjectTypes {
  let known: Promise<Result<Known>> | undefined;

  const readFrom = async (place: string): Promise<Result<Known>> => {
    const byTable = new Map<string, string>();
    const names = new Set<string>();
    for (let after = 0; ; ) {
      const listed = await api.list(
        place,
        (pageSize) => new URLSearchParams({ id__gt: String(after), ordering: 'id', limit: String(pageSize) }),
        PAGE,
        'Reading the object types',
      );
      if (!listed.ok) return listed;
      for (const { app_label: app, model, rest_api_endpoint: endpoint } of listed.value.rows) {
        const name = `${String(app)}.${String(model)}`;
        names.add(name);
        const table = belowApi(endpoint);
        if (table !== undefined) byTable.set(table, name);
      }
      const last = listed.value.rows.at(-1)?.id;
      if (!listed.value.more || typeof last !== 'number' || last <= after) return done({ byTable, names });
      after = last;
    }
  };

  const read = async (): Promise<Result<Known>> => {
    let last: Result<Known> | undefined;
    for (const place of places) {
      last = await readFrom(place);
      if (last.ok || last.failure.code !== 'not_found') return last;
    }
    return last!;
  };

  return {
    async typeOf(table) {
      if (!isTable(table)) return failed('not_found', `table ${table}`, `There is no table ${table}`);
      known ??= read();
      const found = await known;
      if (!found.ok) {
        known = undefined;
        return found;
      }
      const { byTable, names } = found.value;
      const name = byTable.get(table) ?? guessesOf(table).find((guess) => names.has(guess));
      if (name !== undefined) return done(name);
      return failed('not_found', `table ${table}`, `The object type of ${table} is not known`);
    },
  };
}

/** What the model behind an endpoint may be called: the endpoint is its plural, with hyphens. */
function guessesOf(table: string): string[] {
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
