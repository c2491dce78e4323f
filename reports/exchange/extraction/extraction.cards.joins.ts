import type { Column } from '../../kernel/formats/formats.types.ts';
import { type CardSelection, OF_FOUND } from './extraction.cards.source.ts';
import { escapedText } from './extraction.csv.ts';
import type { Join } from './extraction.rows.ts';

/** The parent `p` of a card. */
const parentJoin: Join = () => 'left join cards p on p.id = c.parent_id';

/** The join `pp` that aggregates the ancestors `up` of a card, whose `depth` is 1 for the parent. */
const ancestors = (aggregate: string): string => `left join lateral (
    with recursive up as (
      select a.id, a.parent_id, a.name, 1 as depth from cards a where a.id = c.parent_id
      union all
      select a.id, a.parent_id, a.name, up.depth + 1 from cards a join up on a.id = up.parent_id where up.depth < 50
    ) select ${aggregate} from up) pp on c.parent_id is not null`;

/** The path of the ancestors' names, root first, as `pp.cell`. */
const pathJoin: Join = () =>
  ancestors(`string_agg(${escapedText('up.name', '\\\\/')}, ' / ' order by up.depth desc) as cell`);

const tagText = `${escapedText('g.name', '\\\\/')} || '/' || ${escapedText('t.name', '\\\\\\\\')}`;
const tagTables = 'tags t join tag_groups g on g.id = t.tag_group_id';
const tagOrder = 'row_number() over (order by lower(g.name), lower(t.name)) as place';

/**
 * How a card's tags, or its stakeholders, become a cell: what is made of each one's `text`, and how the `text`s are put
 * together in the order of `place`.
 */
export interface Gathering {
  each(text: string): string;
  all: string;
}

/** Whose tags or stakeholders are wanted: those of all cards, of cards that `changed` names, or of the few it is known to name. */
type Whose = 'all' | 'changed' | 'found';

/** What holds a card's tags, or its stakeholders. */
const heldBy = (table: string, alias: string, whose: Whose): string =>
  whose === 'changed' ? `changed x join ${table} ${alias} on ${alias}.card_id = x.id` : `${table} ${alias}`;

/** Whether they are held by one of the cards wanted. */
const isWanted = (alias: string, whose: Whose): string =>
  whose === 'found' ? `${alias}.card_id ${OF_FOUND}` : 'true';

/**
 * The join `t` whose `cell` has a card's tags. Each tag's text is made once, and its place among the others found once.
 */
function tagsJoin({ each, all }: Gathering, whose: Whose): Join {
  return (range) => `left join (select ct.card_id, ${all} as cell
      from ${heldBy('card_tags', 'ct', whose)}
      join (select t.id, ${each(tagText)} as text, ${tagOrder} from ${tagTables}) k on k.id = ct.tag_id
      where ${range('ct.card_id')} and ${isWanted('ct', whose)} group by ct.card_id) t on t.card_id = c.id`;
}

/** The join `s` whose `cell` has a card's stakeholders; with users it is as with tags. */
function stakeholdersJoin({ each, all }: Gathering, whose: Whose): Join {
  const ordered = all.replace('k.place', 'k.role, k.place');
  return (range) => `left join (select k.card_id, ${ordered} as cell
      from (select s.card_id, s.role, s.role || ':' || u.text as text, u.place
            from ${heldBy('stakeholders', 's', whose)}
            join (select id, ${each('email')} as text, row_number() over (order by lower(email)) as place
                  from users) u on u.id = s.user_id
            where ${range('s.card_id')} and ${isWanted('s', whose)}) k
      group by k.card_id) s on s.card_id = c.id`;
}

/** The joins that the cells of these columns need, for the cards `c` of a selection. */
export function cardJoins(selection: CardSelection, columns: Column[], gathering: Gathering): Join[] {
  const whose = selection.found ? 'found' : selection.changes ? 'changed' : 'all';
  return [
    { for: ['parent_external_id', 'parent_name'], join: parentJoin },
    { for: ['parent_path'], join: pathJoin },
    { for: ['tags'], join: tagsJoin(gathering, whose) },
    { for: ['stakeholders'], join: stakeholdersJoin(gathering, whose) },
  ]
    .filter((each) => columns.some(({ header }) => each.for.includes(header)))
    .map(({ join }) => join);
}
