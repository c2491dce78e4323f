import Type from 'typebox';
import { Lifecycle as CardLifecycle } from '../../domain/inventory/cards/cards.model.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { arrayOf, Nullable, OpenObject, Uuid } from '../../domain/kernel/shapes.ts';
import { embed, fragment, query, type Sql } from '../../platform/database.ts';
import { withoutCosts } from './report.cards.ts';
import { jsonRows } from './report.json-rows.ts';

/** The card type of organizations. */
export const ORGANIZATION = 'Organization';

/** A card by its id and name. */
export const Named = { id: Uuid, name: Type.String() };
/** An application in responses. */
export const App = {
  ...Named,
  subtype: Nullable(Type.String()),
  attributes: OpenObject,
  lifecycle: Nullable(CardLifecycle),
  org_ids: Type.Array(Uuid),
  tag_ids: Type.Array(Uuid),
};
/** Related cards by their type. */
export const CardsByType = Type.Record(Type.String(), arrayOf({ ...Named, type: Type.String() }));
/** The tag groups of a type, see `tagGroupsOf`. */
export const TagGroups = arrayOf({
  ...Named,
  mode: Type.String(),
  tags: arrayOf({ ...Named, color: Nullable(Type.String()) }),
});

/** The attributes of relations over the alias `r`, see `withoutCosts`. */
export const relationAttributes = (ctx: Ctx): string =>
  withoutCosts(ctx, 'r', ctx.metamodel.relationTypes.values());

/** One direction of a relation type: the columns of the near and the far card. */
export interface RelationPath {
  relationType: string;
  near: 'source_id' | 'target_id';
  far: 'source_id' | 'target_id';
}

/** The relation paths from cards of a type to each visible type, by target type. */
export function relationPathsFrom(ctx: Ctx, type: string): Map<string, RelationPath[]> {
  const ways = new Map<string, RelationPath[]>();
  const add = (other: string, way: RelationPath) => {
    if (ctx.metamodel.visibleTypes.includes(other)) ways.set(other, [...(ways.get(other) ?? []), way]);
  };
  for (const relationType of ctx.metamodel.visibleRelationTypes) {
    const { source_type_key, target_type_key } = ctx.metamodel.relationTypes.get(relationType)!;
    if (source_type_key === type) add(target_type_key, { relationType, near: 'source_id', far: 'target_id' });
    if (target_type_key === type) add(source_type_key, { relationType, near: 'target_id', far: 'source_id' });
  }
  return ways;
}

/**
 * Everything that cards of a type are related to by relations of visible types, in either direction, as the common
 * table `related (card_id, relation_id, relation_type, attributes, other_id, other_name, other_type)`.
 * @param visible from the report's input.
 */
export function relatedTable(ctx: Ctx, type: string, visible: Fragment): Fragment {
  const types = ctx.metamodel.visibleRelationTypes.map((key) => ctx.metamodel.relationTypes.get(key)!);
  const from = types.filter(({ source_type_key }) => source_type_key === type).map(({ key }) => key);
  const to = types.filter(({ target_type_key }) => target_type_key === type).map(({ key }) => key);
  const attributes = relationAttributes(ctx);
  return fragment`related as materialized (
      select e.card_id, e.relation_id, e.relation_type, e.attributes, c.id as other_id, c.name as other_name, c.type as other_type
      from (
        select r.source_id as card_id, r.target_id as other_id, r.id as relation_id, r.type as relation_type, ${embed(attributes)} as attributes
        from relations r where r.type = any(${from}::text[])
        union all
        select r.target_id, r.source_id, r.id, r.type, ${embed(attributes)}
        from relations r where r.type = any(${to}::text[])) e
      join cards c on c.id = e.other_id and ${embed(visible)})`;
}

/**
 * The visible cards of some types, `{id, name, type}` on a line each, by type and name, from which the
 * related ones are selected by id.
 */
export function cardsByName(types: string[], visible: Fragment): Fragment {
  return fragment`select c.id, c.name, c.type from cards c where c.type = any(${types}::text[]) and ${embed(visible)} order by c.type, c.name, c.id`;
}

/** Makes the lines of {@link cardsByName}. */
export const relatedCard = jsonRows(
  [
    { name: 'id', kind: 'id' },
    { name: 'name', kind: 'text' },
    { name: 'type', kind: 'text' },
  ],
  '},\n',
);

/** The tag groups that a type takes, with their tags, as one text. */
export const tagGroupsOf = (
  type: string,
): Fragment => fragment`select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name, 'mode', g.mode, 'tags', (
        select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'color', t.color) order by t.name, t.id), '[]')
        from tags t where t.tag_group_id = g.id)) order by g.name, g.id), '[]')::text as text
    from tag_groups g
    where coalesce(g.restrict_to_types, '[]') in ('[]', 'null') or g.restrict_to_types @> to_jsonb(${type}::text)`;

/** The text that a query of one column and one row gives. */
export async function readText(sql: Sql, text: Fragment): Promise<string> {
  return await query(sql).value`${embed(text)}`;
}
