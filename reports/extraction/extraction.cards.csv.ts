import { visibleAttributes } from '../../domain/cards/cards.projection.ts';
import type { Ctx } from '../../domain/context.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { ancestors, type CardSelection, parentJoin, selectedCards } from './extraction.cards.ts';
import { type CsvSource, type CsvTable, csvTable, escapedText } from './extraction.csv.ts';
import type { Column } from './extraction.types.ts';

/** Cells that hold no text which could be calculated. */
const plain: Record<string, string> = {
  id: 'c.id',
  type: 'c.type',
  subtype: 'c.subtype',
  parent_id: 'c.parent_id',
  status: 'c.status',
  approval_status: 'c.approval_status',
  data_quality: 'c.data_quality::float8',
  created_at: 'utc(c.created_at)',
  updated_at: 'utc(c.updated_at)',
  // each begins with a role's key
  stakeholders: 's.cell',
  'lifecycle.plan': "c.lifecycle ->> 'plan'",
  'lifecycle.phaseIn': "c.lifecycle ->> 'phaseIn'",
  'lifecycle.active': "c.lifecycle ->> 'active'",
  'lifecycle.phaseOut': "c.lifecycle ->> 'phaseOut'",
  'lifecycle.endOfLife': "c.lifecycle ->> 'endOfLife'",
};

const texts: Record<string, string> = {
  external_id: 'c.external_id',
  name: 'c.name',
  alias: 'c.alias',
  description: 'c.description',
  parent_external_id: 'p.external_id',
  parent_name: 'p.name',
  parent_path: 'pp.cell',
  tags: 't.cell',
};

const joins: { for: string[]; sql: string }[] = [
  { for: ['parent_external_id', 'parent_name'], sql: parentJoin },
  {
    for: ['parent_path'],
    sql: ancestors(`string_agg(${escapedText('up.name', '\\\\/')}, ' / ' order by up.depth desc) as cell`),
  },
  {
    // each tag's text is made once, and its place among the others found once; so with users
    for: ['tags'],
    sql: `left join (select ct.card_id, string_agg(t.text, ';' order by t.place) as cell
      from card_tags ct
      join (select t.id, ${escapedText(`${escapedText('g.name', '\\\\/')} || '/' || ${escapedText('t.name', '\\\\\\\\')}`, '\\\\;')} as text,
              row_number() over (order by lower(g.name), lower(t.name)) as place
            from tags t join tag_groups g on g.id = t.tag_group_id) t on t.id = ct.tag_id
      group by ct.card_id) t on t.card_id = c.id`,
  },
  {
    for: ['stakeholders'],
    sql: `left join (select s.card_id, string_agg(s.role || ':' || u.text, ';' order by s.role, u.place) as cell
      from stakeholders s
      join (select id, ${escapedText('email', '\\\\;')} as text, row_number() over (order by lower(email)) as place
            from users) u on u.id = s.user_id
      group by s.card_id) s on s.card_id = c.id`,
  },
];

/** The cards of a selection as lines of CSV, from the snapshot, oldest first. */
export async function cardCsv(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: CardSelection,
  columns: Column[],
  guard: boolean,
): Promise<CsvTable> {
  const needed = joins.filter((join) => columns.some(({ header }) => join.for.includes(header)));
  const source: CsvSource = {
    name: 'Cards',
    row: 'c',
    plain,
    texts,
    attributes: visibleAttributes(ctx),
    types: selection.types,
    fieldOf: (type, key) => ctx.metamodel.cardTypes.get(type)?.fields.get(key)?.type,
    from: 'cards c',
    joins: needed.map(({ sql }) => sql),
    where: selectedCards(ctx, selection),
  };
  return await csvTable(snapshot, source, columns, guard);
}
