import { visibleAttributes, visibleCards } from '../../../domain/inventory/cards/cards.projection.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Condition, Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { embed, fragment, joinFragments } from '../../../platform/database.ts';
import type { ColumnJoin, RowSource } from './extraction.rows.ts';

/** Which cards an extraction contains. */
export interface CardSelection {
  types: string[];
  conditions: Condition[];
  /** Only what may have changed, see {@link RowSource}. */
  changed?: Fragment;
}

/** The conditions of a selection, visibility included, over the alias `c`. */
export function selectedCards(ctx: Ctx, selection: CardSelection): Condition {
  const parts = [
    visibleCards(ctx),
    fragment`c.type = any(${selection.types}::text[])`,
    ...selection.conditions,
  ];
  return joinFragments(
    parts.map((part) => fragment`(${embed(part)})`),
    ' and ',
  );
}

const own = [
  'id',
  'type',
  'subtype',
  'external_id',
  'name',
  'alias',
  'description',
  'parent_id',
  'status',
  'approval_status',
  'data_quality',
  'created_at',
  'updated_at',
];

const values: Record<string, string> = {
  ...Object.fromEntries(own.map((column) => [column, `c.${column}`])),
  ...Object.fromEntries(lifecyclePhases.map((phase) => [`lifecycle.${phase}`, `c.lifecycle ->> '${phase}'`])),
  parent_external_id: 'p.external_id',
  parent_name: 'p.name',
  parent_path: 'pp.path',
  tags: 't.list',
  stakeholders: 's.list',
};

/** SQL that puts a backslash before each of the characters, which are written as in a regex bracket expression. */
const escaped = (value: string, characters: string): string =>
  `regexp_replace(${value}, '[${characters}]', '\\\\\\&', 'g')`;

/** The names of the ancestors, root first, as `joinPath` writes them. */
const pathJoin = `left join lateral (
    with recursive up as (
      select a.id, a.parent_id, a.name, 1 as depth from cards a where a.id = c.parent_id
      union all
      select a.id, a.parent_id, a.name, up.depth + 1 from cards a join up on a.id = up.parent_id where up.depth < 50
    ) select string_agg(${escaped('up.name', '\\\\/')}, ' / ' order by up.depth desc) as path from up) pp
  on c.parent_id is not null`;

const linkTable = (table: string, alias: string, isChanged: boolean): string =>
  isChanged ? `changed x join ${table} ${alias} on ${alias}.card_id = x.id` : `${table} ${alias}`;

const columnJoins: ColumnJoin[] = [
  {
    columns: ['parent_external_id', 'parent_name'],
    join: () => 'left join cards p on p.id = c.parent_id',
  },
  { columns: ['parent_path'], join: () => pathJoin },
  {
    // each tag's text and place are computed once
    columns: ['tags'],
    join: (range, isChanged) => `left join (select ct.card_id, json_agg(k.text order by k.place) as list
      from ${linkTable('card_tags', 'ct', isChanged)}
      join (select t.id, ${escaped('g.name', '\\\\/')} || '/' || ${escaped('t.name', '\\\\\\\\')} as text,
              row_number() over (order by lower(g.name), lower(t.name)) as place
            from tags t join tag_groups g on g.id = t.tag_group_id) k on k.id = ct.tag_id
      where ${range('ct.card_id')} group by ct.card_id) t on t.card_id = c.id`,
  },
  {
    columns: ['stakeholders'],
    join: (
      range,
      isChanged,
    ) => `left join (select s.card_id, json_agg(s.role || ':' || u.email order by s.role, lower(u.email)) as list
      from ${linkTable('stakeholders', 's', isChanged)} join users u on u.id = s.user_id
      where ${range('s.card_id')} group by s.card_id) s on s.card_id = c.id`,
  },
];

/** The cards of a selection. */
export function cardSource(ctx: Ctx, selection: CardSelection): RowSource {
  return {
    name: 'Cards',
    table: 'cards',
    row: 'c',
    joins: '',
    columnJoins,
    values,
    attributes: visibleAttributes(ctx),
    where: selectedCards(ctx, selection),
    changed: selection.changed,
  };
}
