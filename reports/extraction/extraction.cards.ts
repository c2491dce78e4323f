import { visibleAttributes } from '../../domain/cards/cards.projection.ts';
import { visibleCards } from '../../domain/cards/cards.visible.ts';
import type { Ctx } from '../../domain/context.ts';
import type { Condition } from '../../domain/lists/lists.types.ts';
import { joinPath, writeTag } from '../../domain/transfer/csv-cells.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { epochWriter, rowShaper, type Source, shapedBatches } from './extraction.shape.ts';
import { numbered } from './extraction.sql.ts';
import type { Cell, Column, Table } from './extraction.types.ts';

const BATCH = 1_000;

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
  // as numbers, since writing them as text would cost the database a tenth of the whole
  created_at: "date_part('epoch', c.created_at)",
  updated_at: "date_part('epoch', c.updated_at)",
  tags: 't.tags',
  stakeholders: 's.stakeholders',
  'lifecycle.plan': "c.lifecycle ->> 'plan'",
  'lifecycle.phaseIn': "c.lifecycle ->> 'phaseIn'",
  'lifecycle.active': "c.lifecycle ->> 'active'",
  'lifecycle.phaseOut': "c.lifecycle ->> 'phaseOut'",
  'lifecycle.endOfLife': "c.lifecycle ->> 'endOfLife'",
} as const;

export const parentJoin = 'left join cards p on p.id = c.parent_id';

/** The join `pp` that aggregates the ancestors `up` of a card, whose `depth` is 1 for the parent. */
export const ancestors = (aggregate: string): string => `left join lateral (
    with recursive up as (
      select a.id, a.parent_id, a.name, 1 as depth from cards a where a.id = c.parent_id
      union all
      select a.id, a.parent_id, a.name, up.depth + 1 from cards a join up on a.id = up.parent_id where up.depth < 50
    ) select ${aggregate} from up) pp on c.parent_id is not null`;

const joins = {
  parent: parentJoin,
  path: ancestors('array_agg(up.name order by up.depth desc) as path'),
  tags: `left join (select ct.card_id, json_agg(json_build_array(g.name, t.name) order by lower(g.name), lower(t.name)) as tags
    from card_tags ct join tags t on t.id = ct.tag_id join tag_groups g on g.id = t.tag_group_id
    group by ct.card_id) t on t.card_id = c.id`,
  stakeholders: `left join (select s.card_id, json_agg(s.role || ':' || u.email order by s.role, lower(u.email)) as stakeholders
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
  const needs = (...names: string[]) => names.some((name) => columns.some(({ header }) => header === name));
  const from = [
    'cards c',
    needs('parent_external_id', 'parent_name') ? joins.parent : '',
    needs('parent_path') ? joins.path : '',
    needs('tags') ? joins.tags : '',
    needs('stakeholders') ? joins.stakeholders : '',
  ].join(' ');
  const fixed = columns.filter((column) => !column.header.startsWith('attributes.'));
  const list = [
    `${attributes.sql} as attributes`,
    ...fixed.map((column) => members[column.header as keyof typeof members]),
  ];
  const counted = numbered(`select count(*)::int as n from cards c where ${where.sql}`);
  const [{ n: total } = { n: 0 }] = await snapshot.query<{ n: number }>(counted, where.bindings);
  const rows = snapshot.batches(
    numbered(`select ${list.join(', ')} from ${from} where ${where.sql} order by c.id`),
    [...attributes.bindings, ...where.bindings],
    BATCH,
  );
  const shape = rowShaper(columns, (column) => sourceOf(column, fixed));
  return { name: 'Cards', columns, total, batches: shapedBatches(rows, columns.length, shape) };
}

/** The places of the query's values. */
const ATTRIBUTES = 0;
const FIRST_MEMBER = 1;

const readers: Partial<Record<keyof typeof members, (value: unknown) => Cell>> = {
  parent_path: (names) => joinPath(names as string[]),
  tags: (tags) => (tags as string[][]).map(([group, name]) => writeTag({ group: group!, name: name! })),
  created_at: epochWriter(),
  updated_at: epochWriter(),
};

function sourceOf(column: Column, fixed: Column[]): Source {
  const at = fixed.indexOf(column);
  if (at < 0) return { place: ATTRIBUTES, member: column.header.slice('attributes.'.length) };
  const read = readers[column.header as keyof typeof members];
  return { place: FIRST_MEMBER + at, ...(read ? { read } : {}) };
}
