import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { embed, fragment } from '../../../platform/database.ts';
import type { IdRange, Snapshot, Statement } from '../../../platform/snapshot.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import {
  ORGANIZATION,
  type RelationPath,
  relationAttributes,
  relationPathsFrom,
} from '../../kernel/report.related.ts';
import { jsonLine, jsonText } from '../../kernel/report.sql.ts';

/** A relation type with its other card type. */
export interface RelationKind {
  relationType: string;
  other: string;
  ways: RelationPath[];
}

/** The relation types of a card type that have relations, in the order of the response. */
export async function relationKinds(snapshot: Snapshot, ctx: Ctx, type: string): Promise<RelationKind[]> {
  const kinds = new Map<string, RelationKind>();
  for (const [other, ways] of relationPathsFrom(ctx, type)) {
    for (const way of ways) {
      const { relationType } = way;
      const known = kinds.get(relationType);
      if (known) known.ways.push(way);
      else kinds.set(relationType, { relationType, other, ways: [way] });
    }
  }
  const used = await snapshot.query<{ key: string }>(
    'select k.key from unnest($1::text[]) as k (key) where exists (select from relations r where r.type = k.key)',
    [[...kinds.keys()]],
  );
  return used.map(({ key }) => kinds.get(key)!).sort((a, b) => (a.relationType < b.relationType ? -1 : 1));
}

/**
 * The cards of a type, each followed by its relations and its tags: rows of `card_id`, `kind`, `other_id`, `name`, `subtype`,
 * `attributes` and `lifecycle`. The kind of a card is 0, of a relation the 1-based index of its type, of a tag one more than
 * the highest index. Relations of excluded cards can be included.
 */
export function itemRows(
  ctx: Ctx,
  type: string,
  kinds: readonly RelationKind[],
  cards: Fragment,
): (range: IdRange) => Statement {
  const attributes = relationAttributes(ctx);
  const keys = kinds.map(({ relationType }) => relationType);
  const nearBy = (near: RelationPath['near']) =>
    kinds.filter(({ ways }) => ways.some((way) => way.near === near)).map(({ relationType }) => relationType);
  const relations = (
    near: RelationPath['near'],
    far: RelationPath['far'],
    range: IdRange,
  ) => fragment`union all
      select r.${embed(near)}, array_position(${keys}::text[], r.type), r.id, r.${embed(far)}, null, null,
        ${embed(attributes)}, null
      from relations r where ${embed(range(`r.${near}`))} and r.type = any(${nearBy(near)}::text[])`;
  return (range) => fragment`
    select x.card_id, x.kind, x.other_id, x.name, x.subtype, x.attributes, x.lifecycle from (
      select c.id as card_id, 0 as kind, null::uuid as place, null::uuid as other_id, c.name, c.subtype,
        (${embed(reportAttributes(ctx, [type]))})::jsonb as attributes, c.lifecycle
      from cards c where ${embed(range('c.id'))} and c.type = ${type} and ${embed(cards)}
      ${embed(relations('source_id', 'target_id', range))}
      ${embed(relations('target_id', 'source_id', range))}
      union all
      select k.card_id, ${embed(kinds.length + 1)}, k.tag_id, k.tag_id, null, null, null, null
      from card_tags k where ${embed(range('k.card_id'))}) x
    order by x.card_id, x.kind, x.place`;
}

/** All visible organizations by name, as one text. */
export const organizations = (visible: Fragment): Fragment => fragment`
  select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name) order by c.name_key, c.id), '[]')::text as text
  from cards c where c.type = ${ORGANIZATION} and ${embed(visible)}`;

/** The lifecycles of the cards of a type with their related organizations, one per line. */
export function organizationsOf(ctx: Ctx, type: string, cards: Fragment, visible: Fragment): Fragment {
  const pairs = relatedPairs(ctx, type, ORGANIZATION);
  const item = jsonLine({ lifecycle: { json: 'c.lifecycle' }, organizations: { array: 'o.list' } });
  const organization = jsonText({ id: { id: 'c.id' }, name: { text: 'c.name' } });
  return fragment`select ${embed(item)} from cards c left join (
        select e.card_id, string_agg(${embed(organization)}, ',' order by c.id) as list
        from (select ${embed(pairs.once)} e.card_id, e.other_id from (${embed(pairs)}) e) e
        join cards c on c.id = e.other_id and ${embed(visible)} group by e.card_id) o on o.card_id = c.id
      where c.type = ${type} and ${embed(cards)} order by c.id`;
}
