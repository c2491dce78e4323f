import { visibleAttributes } from '../../domain/cards/cards.projection.ts';
import { visibleCards } from '../../domain/cards/cards.visible.ts';
import type { Ctx } from '../../domain/context.ts';
import type { Condition } from '../../domain/lists/lists.types.ts';
import { joinPath, joinValues, writeTag } from '../../domain/transfer/csv-cells.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { numbered } from './extraction.sql.ts';
import type { Cell, Column, Table } from './extraction.types.ts';

const BATCH = 2_000;

/** Members of a row before its attributes; `path` holds the names of the ancestors, root first. */
const members = {
  id: 'c.id',
  type: 'c.type',
  subtype: 'c.subtype',
  external_id: 'c.external_id',
  name: 'c.name',
  alias: 'c.alias',
  description: 'c.description',
  parent_id: 'c.parent_id',
  parent_external_id: 'p.external_id',
  parent_name: 'p.name',
  parent_path: 'pp.path',
  status: 'c.status',
  approval_status: 'c.approval_status',
  data_quality: 'c.data_quality::float8',
  created_at: 'utc(c.created_at)',
  updated_at: 'utc(c.updated_at)',
  tags: 't.tags',
  stakeholders: 's.stakeholders',
} as const;

const joins = {
  parent: 'left join cards p on p.id = c.parent_id',
  path: `left join lateral (
    with recursive up as (
      select a.id, a.parent_id, a.name, 1 as depth from cards a where a.id = c.parent_id
      union all
      select a.id, a.parent_id, a.name, up.depth + 1 from cards a join up on a.id = up.parent_id where up.depth < 50
    ) select array_agg(up.name order by up.depth desc) as path from up) pp on c.parent_id is not null`,
  tags: `left join (select ct.card_id, array_agg(array[g.name, t.name] order by lower(g.name), lower(t.name)) as tags
    from card_tags ct join tags t on t.id = ct.tag_id join tag_groups g on g.id = t.tag_group_id
    group by ct.card_id) t on t.card_id = c.id`,
  stakeholders: `left join (select s.card_id, array_agg(s.role || ':' || u.email order by s.role, lower(u.email)) as stakeholders
    from stakeholders s join users u on u.id = s.user_id group by s.card_id) s on s.card_id = c.id`,
};

/** Which cards an extraction takes. */
export interface CardSelection {
  types: string[];
  conditions: Condition[];
}

/** The conditions of a selection, visibility included, over the alias `c`. */
export function selectedCards(ctx: Ctx, selection: CardSelection): Condition {
  const parts = [
    visibleCards(ctx),
    { sql: 'c.type = any(?::text[])', bindings: [selection.types] },
    ...selection.conditions,
  ];
  return {
    sql: parts.map((part) => `(${part.sql})`).join(' and '),
    bindings: parts.flatMap((part) => part.bindings),
  };
}

/** The cards of a selection as a table, from the snapshot, oldest first. */
export async function cardTable(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: CardSelection,
  columns: Column[],
): Promise<Table> {
  const where = selectedCards(ctx, selection);
  const attributes = visibleAttributes(ctx);
  const fixed = columns.flatMap(({ header }) => (header in members ? [header as keyof typeof members] : []));
  const needs = (...names: string[]) => names.some((name) => columns.some(({ header }) => header === name));
  const from = [
    'cards c',
    needs('parent_external_id', 'parent_name') ? joins.parent : '',
    needs('parent_path') ? joins.path : '',
    needs('tags') ? joins.tags : '',
    needs('stakeholders') ? joins.stakeholders : '',
  ].join(' ');
  const list = [
    'c.type',
    'c.lifecycle',
    `${attributes.sql} as attributes`,
    ...fixed.map((name) => members[name]),
  ];
  const counted = numbered(`select count(*)::int as n from cards c where ${where.sql}`);
  const [{ n: total } = { n: 0 }] = await snapshot.query<{ n: number }>(counted, where.bindings);
  const rows = snapshot.batches(
    numbered(`select ${list.join(', ')} from ${from} where ${where.sql} order by c.id`),
    [...attributes.bindings, ...where.bindings],
    BATCH,
  );
  return { name: 'Cards', columns, total, batches: shaped(rows, columns, fixed) };
}

type Getter = (row: unknown[]) => Cell;

async function* shaped(
  batches: AsyncIterable<unknown[][]>,
  columns: Column[],
  fixed: (keyof typeof members)[],
): AsyncGenerator<Cell[][]> {
  const getters = columns.map(({ header, type }): Getter => {
    if (header.startsWith('lifecycle.')) return jsonMember(1, header.slice('lifecycle.'.length), 'text');
    if (header.startsWith('attributes.')) return jsonMember(2, header.slice('attributes.'.length), type);
    const place = 3 + fixed.indexOf(header as keyof typeof members);
    if (header === 'parent_path') return (row) => (row[place] ? joinPath(row[place] as string[]) : null);
    if (header === 'tags') {
      return (row) =>
        (row[place] as string[][] | null)?.map(([group, name]) => writeTag({ group: group!, name: name! }));
    }
    return (row) => row[place] as Cell;
  });
  for await (const rows of batches) yield rows.map((row) => getters.map((get) => get(row)));
}

/** A member of a JSON column; one that does not fit the column's type (as after a change of type) is shown as text. */
export function jsonMember(place: number, key: string, type: Column['type']): Getter {
  return (row) => {
    const value = (row[place] as Record<string, unknown> | null)?.[key];
    if (value === undefined || value === null) return null;
    if (Array.isArray(value)) return type === 'multi' ? value.map(String) : joinValues(value.map(String));
    if (type === 'text' && typeof value !== 'string') return String(value);
    return value as Cell;
  };
}
