import { may } from '../domain/access/policy.ts';
import type { Ctx } from '../domain/context.ts';
import type { Fragment } from '../domain/lists/lists.types.ts';
import { literal } from './report.sql.ts';

/** A relation's attributes over the alias `r`, without costs unless the caller holds `costs.view`. */
function relationAttributes(ctx: Ctx): string {
  if (may(ctx.caller, 'costs.view')) return 'r.attributes';
  const branches = [...ctx.metamodel.relationTypes.values()].flatMap(({ key, costKeys }) =>
    costKeys.length > 0
      ? [`when ${literal(key)} then r.attributes - array[${costKeys.map(literal).join(', ')}]`]
      : [],
  );
  return branches.length > 0 ? `case r.type ${branches.join(' ')} else r.attributes end` : 'r.attributes';
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
  return {
    sql: `related as materialized (
      select e.card_id, e.relation_id, e.relation_type, e.attributes, c.id as other_id, c.name as other_name, c.type as other_type
      from (
        select r.source_id as card_id, r.target_id as other_id, r.id as relation_id, r.type as relation_type, ${attributes} as attributes
        from relations r where r.type = any(?::text[])
        union all
        select r.target_id, r.source_id, r.id, r.type, ${attributes}
        from relations r where r.type = any(?::text[])) e
      join cards c on c.id = e.other_id and ${visible.sql})`,
    bindings: [from, to, ...visible.bindings],
  };
}

/**
 * The related cards by type, `{typeKey: [{id, name, type}]}` as text; of the table `related`, as far as the cards of
 * the table `app (id)` go.
 */
export const relatedByType = `(select coalesce(jsonb_object_agg(kind, cards), '{}')::text from (
    select other_type as kind, jsonb_agg(jsonb_build_object('id', other_id, 'name', other_name, 'type', other_type)
      order by other_name, other_id) as cards
    from (select distinct other_id, other_name, other_type from related join app on app.id = related.card_id) o
    group by other_type) kinds)`;

/** Ids of the tags by card, as the common table `tagged (card_id, tag_ids)`. */
export const taggedTable = `tagged as (
    select k.card_id, jsonb_agg(k.tag_id order by k.tag_id) as tag_ids
    from card_tags k join app on app.id = k.card_id group by k.card_id)`;

/** The tag groups that a type takes, with their tags, as text. @param type SQL of the type's key. */
export const tagGroupsOf = (type: string): string => `(
    select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name, 'mode', g.mode, 'tags', (
        select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'color', t.color) order by t.name, t.id), '[]')
        from tags t where t.tag_group_id = g.id)) order by g.name, g.id), '[]')::text
    from tag_groups g
    where coalesce(g.restrict_to_types, '[]') in ('[]', 'null') or g.restrict_to_types @> to_jsonb(${type}))`;
