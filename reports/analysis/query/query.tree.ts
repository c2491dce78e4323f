import type { RelationStep } from '../../../domain/inventory/filters/filters.fields.ts';
import { combine, type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { ValueType } from './query.values.ts';

/** The entity of a node that a measure counts once per group. */
export type Entity = 'card' | 'relation';

/** A value of a node, as a column of the statement. */
export interface NodeValue {
  column: string;
  value: Fragment;
  type: ValueType;
}

/**
 * A join of the query: the other ends of relations, tags, people, or members of lists. Fields with the same path share a
 * node, so that values of one related card are in the same row.
 */
export interface QueryNode {
  /** Unique number in the statement; suffix of the node's aliases and columns. */
  n: number;
  /** The join from the parent, and its condition. */
  from: Fragment;
  on: Fragment;
  /** Ids of the node's entities. */
  ids: Partial<Record<Entity, Fragment>>;
  /** Dimensions. */
  keys: NodeValue[];
  /** Values of measures, by entity. */
  values: Map<Entity, NodeValue[]>;
  children: Map<string, QueryNode>;
  /** The value of a list node (tags, people or options); a card counts once per value. */
  member?: Fragment;
}

/** An entity from which a path continues. */
export interface Place {
  /** Distinguishes the card and the relation of one node. */
  name: string;
  /** SQL of the card's id. */
  id: Fragment;
  children: Map<string, QueryNode>;
  /** A member of the card's attributes, as jsonb. */
  attribute(key: string): Fragment;
}

/** Creates the nodes of one statement. @param cards condition of the cards that count, over the alias `c`. */
export function createNodes(cards: Fragment) {
  let count = 0;

  const node = (
    parts: Pick<QueryNode, 'from' | 'on' | 'ids'> & { n: number; member?: Fragment },
  ): QueryNode => ({
    keys: [],
    values: new Map(),
    children: new Map(),
    ...parts,
  });

  function child(place: Place, key: string, make: (n: number) => QueryNode): QueryNode {
    const name = `${place.name} ${key}`;
    let found = place.children.get(name);
    if (!found) {
      count += 1;
      found = make(count);
      place.children.set(name, found);
    }
    return found;
  }

  return {
    /** The relations of a step, with the cards at their other end. */
    relation(place: Place, step: RelationStep): QueryNode {
      return child(place, `relation ${step.type} ${step.other ?? 'either'}`, (n) => {
        const other = raw(`c${n}`);
        return node({
          n,
          from: sql`(${relationsOf(step)} ${raw(`r${n}`)}
            join (select c.* from cards c where ${cards}) ${other} on ${other}.id = ${raw(`r${n}.other_id`)})`,
          on: sql`${raw(`r${n}.own_id`)} = ${place.id}`,
          ids: { card: sql`${other}.id`, relation: raw(`r${n}.id`) },
        });
      });
    },
    /** The tags of a group, or all tags as `Group/Tag`. */
    tags(place: Place, groupId: string | undefined): QueryNode {
      return child(place, `tags ${groupId ?? ''}`, (n) => {
        const [link, tag, group] = [`ct${n}`, `t${n}`, `g${n}`].map(raw) as [Fragment, Fragment, Fragment];
        const join = sql`card_tags ${link} join tags ${tag} on ${tag}.id = ${link}.tag_id`;
        return node({
          n,
          from: groupId
            ? sql`(${join})`
            : sql`(${join} join tag_groups ${group} on ${group}.id = ${tag}.tag_group_id)`,
          on: groupId
            ? sql`${link}.card_id = ${place.id} and ${tag}.tag_group_id = ${groupId}::uuid`
            : sql`${link}.card_id = ${place.id}`,
          ids: { card: place.id },
          member: groupId ? sql`${tag}.name` : sql`${group}.name || '/' || ${tag}.name`,
        });
      });
    },
    /** The people with a stakeholder role, or with any role, by e-mail address. */
    people(place: Place, role: string | undefined): QueryNode {
      return child(place, `people ${role ?? ''}`, (n) => {
        const [holder, user] = [`s${n}`, `u${n}`].map(raw) as [Fragment, Fragment];
        const isOfCard = sql`${holder}.card_id = ${place.id}`;
        return node({
          n,
          from: sql`(stakeholders ${holder} join users ${user} on ${user}.id = ${holder}.user_id)`,
          on: role === undefined ? isOfCard : combine('and', [isOfCard, sql`${holder}.role = ${role}::text`]),
          ids: { card: place.id },
          member: sql`${user}.email`,
        });
      });
    },
    /** The options of a multi-select attribute. */
    options(place: Place, key: string): QueryNode {
      return child(place, `options ${key}`, (n) => {
        const list = place.attribute(key);
        return node({
          n,
          from: sql`lateral jsonb_array_elements_text(case jsonb_typeof(${list})
            when 'array' then ${list} when 'string' then jsonb_build_array(${list}) else '[]' end) ${raw(`m${n} (value)`)}`,
          on: raw('true'),
          ids: { card: place.id },
          member: raw(`m${n}.value`),
        });
      });
    },
  };
}

/** The relations of a type as seen from the card at the near end; without a direction, from either end. */
function relationsOf({ type, other }: RelationStep): Fragment {
  const seen = (far: 'source' | 'target') => {
    const near = far === 'source' ? 'target' : 'source';
    return sql`select r.id, ${raw(`r.${near}_id`)} as own_id, ${raw(`r.${far}_id`)} as other_id, r.attributes, r.description
      from relations r where r.type = ${type}::text`;
  };
  if (other) return sql`(${seen(other)})`;
  return sql`(${seen('target')} union all ${seen('source')} and r.source_id <> r.target_id)`;
}
