import { literal } from '../../../platform/literals.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { type JsonKind, jsonRows } from '../../kernel/formats/ndjson.rows.ts';
import { type Join, type LineTable, lineTable, type RowSource } from './extraction.rows.ts';

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

/** A value of an object: SQL, and what is made of what the database sends for it; NULL leaves the member out. */
export interface JsonMember {
  sql: string;
  kind: JsonKind;
}

/** The members of SQL of one kind, by header. */
export const membersOf = (kind: JsonKind, values: Record<string, string>): Record<string, JsonMember> =>
  Object.fromEntries(Object.entries(values).map(([header, sql]) => [header, { sql, kind }]));

/** Members by header, and the joins that they need. */
export interface JsonMembers {
  members: Record<string, JsonMember>;
  joins: readonly Join[];
}

/** As which type the database sends a value. */
const sent: Record<JsonKind, string> = {
  id: 'uuid',
  text: 'text',
  number: 'float8',
  time: 'timestamptz',
  json: 'text',
  jsonb: 'jsonb',
};

const changeMembers: Record<string, JsonMember> = {
  ...membersOf('json', { deleted: 'null', removed: 'null' }),
  ...membersOf('text', { position: 'x.position' }),
};

/** The values of objects that are gone. */
const goneMembers: Record<string, string> = {
  id: 'g.id',
  type: 'g.type',
  deleted: "case when g.deleted then 'true' end",
  removed: "case when not g.deleted then 'true' end",
  position: 'g.position',
};

const NESTED = ['lifecycle', 'attributes'];
const wholeAttributes: JsonMember = { sql: "nullif(o.attributes, '{}')", kind: 'jsonb' };

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
  const known = source.gone ? { ...members, ...changeMembers } : members;
  const values: (JsonMember & { name: string })[] = [];
  const nested = new Map<string, [string, string][]>();
  for (const { header } of columns) {
    const dot = header.indexOf('.');
    const group = header.slice(0, dot);
    if (!NESTED.includes(group)) {
      values.push({ name: header, ...known[header]! });
      continue;
    }
    const inner = nested.get(group);
    const key = header.slice(dot + 1);
    const value =
      group === 'attributes' ? `nullif(o.attributes -> ${literal(key)}, 'null')::text` : known[header]!.sql;
    if (inner) inner.push([key, value]);
    else {
      nested.set(group, [[key, value]]);
      // its place; what it holds is known when all columns are
      values.push({ name: group, sql: '', kind: 'json' });
    }
  }
  for (const value of values) {
    if (value.sql !== '') continue;
    if (value.name === 'attributes' && whole) Object.assign(value, wholeAttributes);
    else value.sql = `nullif(${jsonObject(nested.get(value.name)!)}, '{}')`;
  }
  const list = (sqlOf: (value: (typeof values)[number]) => string): string =>
    values.map((value) => `(${sqlOf(value)})::${sent[value.kind]}`).join(', ');
  return await lineTable(snapshot, jsonRows(values), withAttributes(source), columns, {
    cells: { sql: list(({ sql }) => sql), bindings: [] },
    joins,
    goneCells: list(({ name }) => goneMembers[name] ?? 'null'),
  });
}
