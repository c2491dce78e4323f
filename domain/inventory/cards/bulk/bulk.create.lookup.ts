import type { Sql } from '../../../../platform/database.ts';
import type { Ctx } from '../../../kernel/context.ts';
import { type CardRef, resolveRefs } from '../../relations/relations.refs.ts';
import { readParents } from '../cards.tree.ts';
import { findTaken } from '../cards.unique.ts';
import { type BulkCreateRow, pathOf, type Surroundings } from './bulk.create.types.ts';

/** Reads what the rows that are to be created need to know. */
export async function lookAround(sql: Sql, ctx: Ctx, rows: BulkCreateRow[]): Promise<Surroundings> {
  const lowered = await lowerCase(
    sql,
    rows.flatMap((row) => [row.name, ...pathOf(row)]),
  );
  const lower = (text: string) => lowered.get(text) ?? text;
  const keyOf = (type: string, name: string, path: string[] | null, id: string | null = null) =>
    JSON.stringify([type, name, path, id]);

  const refs = new Map<string, CardRef>();
  for (const row of rows) {
    if (row.parent_id) refs.set(keyOf(row.type, '', null, row.parent_id), { id: row.parent_id });
    else if (row.parent_path) {
      const path = pathOf(row);
      for (const [n, name] of path.entries()) {
        const parent_path = path.slice(0, n);
        refs.set(keyOf(row.type, name, parent_path), { type: row.type, name, parent_path });
      }
    } else if (row.parent_name) {
      refs.set(keyOf(row.type, row.parent_name, null), { type: row.type, name: row.parent_name });
    }
  }
  const resolved = await resolveRefs(sql, ctx, [...refs.values()]);
  const found = new Map([...refs.keys()].map((key, n) => [key, resolved[n]!]));
  const idAt = (key: string): string | undefined => {
    const ref = found.get(key);
    return ref && 'id' in ref ? ref.id : undefined;
  };
  const byPath = (type: string, steps: string[]) => idAt(keyOf(type, steps.at(-1)!, steps.slice(0, -1)));
  const ids = resolved.flatMap((ref) => ('id' in ref ? ref.id : []));
  const standing = await readParents(sql, [...new Set(ids)]);

  // a row below one that is yet to be made stands in no stored card's way
  const parentOf = (row: BulkCreateRow): string | null | undefined => {
    if (row.parent_id) return idAt(keyOf(row.type, '', null, row.parent_id));
    const path = pathOf(row);
    if (row.parent_path) return path.length === 0 ? null : byPath(row.type, path);
    return row.parent_name ? idAt(keyOf(row.type, row.parent_name, null)) : null;
  };
  const NOWHERE = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  const taken = await findTaken(
    sql,
    rows.map((row) => {
      const parent_id = parentOf(row);
      const { type, name } = row;
      return {
        type,
        name,
        parent_id: parent_id === undefined ? NOWHERE : parent_id,
        external_id: row.external_id ?? null,
      };
    }),
  );
  return {
    lower,
    byPath,
    named(type, name) {
      const ref = found.get(keyOf(type, name, null));
      if (!ref) return [];
      if ('id' in ref) return [ref.id];
      return ref.fault === 'ambiguous' ? ['', ''] : [];
    },
    standing,
    taken,
  };
}

/** Texts in lower case as the unique indexes have them, which is not always what JavaScript makes of them. */
async function lowerCase(sql: Sql, texts: string[]): Promise<Map<string, string>> {
  const wanted = [...new Set(texts)];
  const { rows } = await sql.raw(
    'select lower(trim(v.text)) as lowered from unnest(?::text[]) with ordinality as v(text, n) order by n',
    [wanted],
  );
  return new Map(rows.map((row: { lowered: string }, n: number) => [wanted[n], row.lowered]));
}
