import { literal } from '../../platform/literals.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { type Join, type LineTable, lineTable, type RowSource } from './extraction.rows.ts';
import type { Column } from './extraction.types.ts';

/** The JSON text of a text. */
export const jsonText = (value: string): string => `to_json(${value})::text`;

/** The JSON text of a text in which nothing has to be escaped. */
export const jsonKey = (value: string): string => `'"' || ${value} || '"'`;

/** As many arguments as a function takes. */
const MOST = 98;

/** Texts that are there with commas between them; NULL or empty when there is none. */
function listed(parts: string[]): string {
  if (parts.length <= MOST) return `concat_ws(',', ${parts.join(', ')})`;
  const groups: string[] = [];
  for (let n = 0; n < parts.length; n += MOST) groups.push(`nullif(${listed(parts.slice(n, n + MOST))}, '')`);
  return listed(groups);
}

/** The JSON text of an object of members (name and SQL of their JSON text), without those that are NULL. */
export function jsonObject(members: readonly (readonly [string, string])[]): string {
  const parts = members.map(([name, value]) => `${literal(`${JSON.stringify(name)}:`)} || (${value})`);
  return `'{' || ${listed(parts)} || '}'`;
}

/** Members by header, and the joins that they need. */
export interface JsonMembers {
  /** SQL of the JSON text; NULL leaves the member out. */
  members: Record<string, string>;
  joins: readonly Join[];
}

const goneMembers: [string, string][] = [
  ['id', jsonKey('g.id')],
  ['type', jsonText('g.type')],
  ['deleted', "case when g.deleted then 'true' end"],
  ['removed', "case when not g.deleted then 'true' end"],
  ['position', jsonKey('g.position')],
];

const NESTED = ['lifecycle', 'attributes'];

/** A source whose attributes stand as `o.attributes`, cut once. */
export function withAttributes(source: RowSource): RowSource {
  const { attributes, from } = source;
  const cut = attributes.bindings.length > 0;
  const object = `cross join lateral (select ${attributes.sql} as attributes${cut ? ' offset 0' : ''}) o`;
  return {
    ...source,
    from: { sql: `${from.sql} ${object}`, bindings: [...from.bindings, ...attributes.bindings] },
  };
}

/**
 * The objects of a source as lines of JSON, from the snapshot, oldest first: `lifecycle` and `attributes` nested, empty
 * values left out.
 * @param whole whether all attributes are wanted, as they are.
 */
export async function jsonTable(
  snapshot: Snapshot,
  source: RowSource,
  { members, joins }: JsonMembers,
  columns: Column[],
  whole: boolean,
): Promise<LineTable> {
  const top: [string, string][] = [];
  const nested = new Map<string, [string, string][]>();
  for (const { header } of columns) {
    const dot = header.indexOf('.');
    const group = header.slice(0, dot);
    if (!NESTED.includes(group)) {
      const value = header === 'position' ? jsonKey('x.position') : members[header];
      if (value !== undefined) top.push([header, value]);
      continue;
    }
    const inner = nested.get(group);
    const key = header.slice(dot + 1);
    const value =
      group === 'attributes' ? `nullif(o.attributes -> ${literal(key)}, 'null')::text` : members[header]!;
    if (inner) inner.push([key, value]);
    else {
      nested.set(group, [[key, value]]);
      // its place; what it holds is known when all columns are
      top.push([group, '']);
    }
  }
  const all = top.map(([name, value]): [string, string] => {
    if (value !== '') return [name, value];
    if (name === 'attributes' && whole) return [name, "nullif(o.attributes, '{}')::text"];
    return [name, `nullif(${jsonObject(nested.get(name)!)}, '{}')`];
  });
  return await lineTable(snapshot, 'json', withAttributes(source), columns, {
    cells: { sql: jsonObject(all), bindings: [] },
    joins,
    goneCells: jsonObject(goneMembers),
  });
}
