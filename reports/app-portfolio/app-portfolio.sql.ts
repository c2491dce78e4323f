import type { Ctx } from '../../domain/context.ts';
import type { Fragment } from '../../domain/lists/lists.types.ts';
import { reportAttributes } from '../report.cards.ts';
import { relatedPairs } from '../report.ends.ts';
import { idsOfType, joined, relationAttributes, tagIds, type Way, waysFrom } from '../report.related.ts';
import { jsonLine, jsonText, literal } from '../report.sql.ts';

const ORGANIZATION = 'Organization';

/**
 * Relations of one type by card, `(card_id, list)`, as JSON texts with commas between them, in the order of their ids.
 * What is common to all of them is put in as it stands; a name is escaped once for all relations of the card.
 */
function relationsOf(ctx: Ctx, other: string, ways: Way[], visible: Fragment): Fragment {
  const [{ relationType }] = ways as [Way];
  const head = `{"relation_type":${JSON.stringify(relationType)},"related_id":"`;
  const entry = `${literal(head)} || e.other_id || '","related_name":' || e.name
    || ${literal(`,"related_type":${JSON.stringify(other)},"attributes":`)} || coalesce(e.attributes::text, 'null') || '}'`;
  const ends = ways.map(
    ({
      near,
      far,
    }) => `select r.${near} as card_id, r.id, o.id as other_id, o.name, ${relationAttributes(ctx)} as attributes
      from relations r join (
        select c.id, to_json(c.name)::text as name from cards c where c.type = ${literal(other)} and ${visible.sql} offset 0
      ) o on o.id = r.${far} where r.type = ${literal(relationType)}`,
  );
  return {
    sql: `select e.card_id, string_agg(${entry}, ',' order by e.id) as list from (${ends.join(' union all ')}) e group by e.card_id`,
    bindings: ways.flatMap(() => visible.bindings),
  };
}

/** The cards of a type with their relations, one a line with a comma before it. */
export function portfolioItems(ctx: Ctx, type: string, cards: Fragment, visible: Fragment): Fragment {
  const ways = waysFrom(ctx, type);
  const byRelationType = new Map<string, { other: string; ways: Way[] }>();
  for (const [other, all] of ways) {
    for (const way of all) {
      const known = byRelationType.get(way.relationType);
      if (known) known.ways.push(way);
      else byRelationType.set(way.relationType, { other, ways: [way] });
    }
  }
  const lists = [...byRelationType]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { other, ways }], n) => ({ alias: `k${n}`, table: relationsOf(ctx, other, ways, visible) }));
  const orgs = ways.get(ORGANIZATION);
  const ids = orgs && idsOfType(ORGANIZATION, orgs, visible);
  const tables = [...lists, ...(ids ? [{ alias: 'o', table: ids }] : [])];
  const joins = tables.map(
    ({ alias, table }) => `left join (${table.sql}) ${alias} on ${alias}.card_id = i.id`,
  );
  const head = jsonText(
    {
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      subtype: { text: 'c.subtype' },
      attributes: { json: reportAttributes(ctx, [type]) },
      lifecycle: { json: 'c.lifecycle' },
    },
    '',
  );
  return {
    sql: `select concat(',', i.head, ',"relations":[', ${joined(lists.map(({ alias }) => `${alias}.list`))},
        '],"org_ids":[', ${ids ? `'"' || o.ids || '"'` : "''"}, '],"tag_ids":[', t.tag_ids, ']}')
      from (select c.id, ${head} as head from cards c where c.type = ? and ${cards.sql} offset 0) i
      ${joins.join(' ')} left join (${tagIds}) t on t.card_id = i.id
      order by i.id`,
    bindings: [type, ...cards.bindings, ...tables.flatMap(({ table }) => table.bindings)],
  };
}

/** All visible organizations by name, as one text. */
export const organizations = (visible: Fragment): Fragment => ({
  sql: `select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name) order by c.name_key, c.id), '[]')::text as text
    from cards c where c.type = '${ORGANIZATION}' and ${visible.sql}`,
  bindings: visible.bindings,
});

/** The lifecycles of the cards of a type, and the organizations that each is related to, one a line. */
export function organizationsOf(ctx: Ctx, type: string, cards: Fragment, visible: Fragment): Fragment {
  const pairs = relatedPairs(ctx, type, ORGANIZATION);
  const item = jsonLine({ lifecycle: { json: 'c.lifecycle' }, organizations: { array: 'o.list' } });
  const organization = jsonText({ id: { id: 'c.id' }, name: { text: 'c.name' } });
  return {
    sql: `select ${item} from cards c left join (
        select e.card_id, string_agg(${organization}, ',' order by c.id) as list
        from (select distinct e.card_id, e.other_id from (${pairs.sql}) e) e
        join cards c on c.id = e.other_id and ${visible.sql} group by e.card_id) o on o.card_id = c.id
      where c.type = ? and ${cards.sql} order by c.id`,
    bindings: [...pairs.bindings, ...visible.bindings, type, ...cards.bindings],
  };
}
