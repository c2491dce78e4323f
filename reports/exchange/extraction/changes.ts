import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { MAX_DEPTH } from '../../../domain/inventory/cards/cards.tree.ts';
import { parseFilter } from '../../../domain/inventory/filters/filters.parser.ts';
import type { FilterNode } from '../../../domain/inventory/filters/filters.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { embed, fragment, joinFragments } from '../../../platform/database.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';

// A changed object is a row of `id`, `type`, `position` and `known`: whether an earlier extraction may have contained it.

/** Parameters of the search for cards whose rows may differ. */
interface CardChanges {
  after: number;
  wide: WideChanges;
  /** Types of which an earlier extraction may have contained cards. */
  knownTypes: string[];
  /** Whether cards show the path of their ancestors. */
  paths: boolean;
  /** Number of relations over which the filter reads other cards. */
  hops: number;
  /** Whether the filter reads who created or changed a card. */
  authors: boolean;
  isFiltered: boolean;
}

const RENAMED = "'name', 'external_id'";
const MOVED = `${RENAMED}, 'parent_id'`;

// conditions over the alias `e` of events
/** Events about the card `card_id` itself. */
const OWN = "(e.event_type like 'card.%' or e.event_type like 'tag.%' or e.event_type like 'stakeholder.%')";
const OF_PEOPLE = "(e.event_type like 'user.%' or e.event_type like 'auth.%')";
const OF_TAGS = "e.event_type in ('tag.updated', 'tag_group.updated')";
const cardUpdate = (columns: string): string =>
  `e.event_type = 'card.updated' and jsonb_exists_any(e.data -> 'changes', array[${columns}])`;

/** Number of relations over which a filter reads other cards. */
function hopsOf(node: FilterNode | null): number {
  if (!node) return 0;
  if (node.kind === 'not') return hopsOf(node.item);
  if (node.kind !== 'condition') return Math.max(...node.items.map(hopsOf));
  return node.path.filter(({ text }) => text === 'relation').length;
}

const unionAll = (parts: Fragment[]): Fragment => joinFragments(parts, '\nunion all\n');

/** Changed cards `c` from a FROM clause. */
const present = (position: string, from: Fragment, knownTypes: string[]): Fragment =>
  fragment`select c.id, c.type, ${embed(position)} as position, c.type = any(${knownTypes}::text[]) as known from ${embed(from)}`;

/** Cards whose own row, tags or stakeholders have changed, and those that are deleted. */
const own = ({
  after,
  knownTypes,
}: CardChanges): Fragment => fragment`select e.card_id as id, e.card_type as type, e.position, e.card_type = any(${knownTypes}::text[]) as known from events e
        where e.position > ${after}::bigint and e.card_id is not null and ${embed(OWN)}`;

/** Cards below a card whose name or external id has changed, which their own rows contain. */
function below({ after, knownTypes, paths }: CardChanges): Fragment {
  if (!paths) {
    const from = `join cards c on c.parent_id = e.card_id where ${cardUpdate(RENAMED)}`;
    return fromEvents(from, after, knownTypes);
  }
  const tree = fragment`with recursive under as (
      select e.card_id as id, e.position, 0 as depth from events e
      where e.position > ${after}::bigint and ${embed(cardUpdate(MOVED))}
      union
      select k.id, under.position, under.depth + 1 from cards k join under on k.parent_id = under.id
      where under.depth < ${embed(MAX_DEPTH)}) select * from under`;
  return present('u.position', fragment`(${embed(tree)}) u join cards c on c.id = u.id`, knownTypes);
}

/** Cards `c` that are joined to the events `e` after a position. */
const fromEvents = (joinsAndCondition: string, after: number, knownTypes: string[]): Fragment =>
  present(
    'e.position',
    fragment`events e ${embed(joinsAndCondition)} and e.position > ${after}::bigint`,
    knownTypes,
  );

/** Cards with a tag or a person whose name or address has changed. */
function named({ after, knownTypes, authors }: CardChanges): Fragment[] {
  const id = (condition: string) => `(case when ${condition} then e.data ->> 'id' end)::uuid`;
  const tag = id("e.event_type = 'tag.updated'");
  const group = id("e.event_type = 'tag_group.updated'");
  const user = id("jsonb_exists(e.data -> 'changes', 'email')");
  return [
    `join tags t on t.id = ${tag} or t.tag_group_id = ${group}
       join card_tags ct on ct.tag_id = t.id join cards c on c.id = ct.card_id where ${OF_TAGS}`,
    `join stakeholders s on s.user_id = ${user} join cards c on c.id = s.card_id where ${OF_PEOPLE}`,
    ...(authors ? [`join cards c on ${user} in (c.created_by, c.updated_by) where ${OF_PEOPLE}`] : []),
  ].map((joins) => fromEvents(joins, after, knownTypes));
}

/** All cards of types that were shown or hidden, or all cards. */
function widelyChanged({ wide, knownTypes }: CardChanges): Fragment[] {
  const { cardTypes, everything } = wide;
  const parts: Fragment[] = [];
  if (cardTypes.size > 0) {
    const from = fragment`
      unnest(${[...cardTypes.keys()]}::text[], ${[...cardTypes.values()]}::bigint[]) as m (type, position)
      join cards c on c.type = m.type`;
    parts.push(present('m.position', from, knownTypes));
  }
  if (everything !== undefined) {
    parts.push(
      present('p.position', fragment`cards c, (select ${everything}::bigint as position) p`, knownTypes),
    );
  }
  return parts;
}

/** The given cards and the cards whose filter may read them over relations. */
function around(base: Fragment, { after, knownTypes, hops }: CardChanges): Fragment {
  const ends = fragment`select case n when 1 then e.card_id else e.peer_card_id end as id, e.position
    from events e cross join generate_series(1, 2) n where e.position > ${after}::bigint and e.event_type like 'relation.%'`;
  const near = fragment`with recursive near as (
      select b.id, max(b.position) as position, 0 as hop
      from (select id, position from (${embed(base)}) b union all ${embed(ends)}) b group by b.id
      union
      select case when r.source_id = near.id then r.target_id else r.source_id end, near.position, near.hop + 1
      from near join relations r on near.id in (r.source_id, r.target_id) where near.hop < ${hops}::int)
    select * from near`;
  const from = fragment`(${embed(near)}) n join cards c on c.id = n.id`;
  return unionAll([base, present('n.position', from, knownTypes)]);
}

/** Each object once, with its last position. */
const distinct = (parts: Fragment[]): Fragment =>
  fragment`select p.id, max(p.type) as type, max(p.position) as position, bool_or(p.known) as known
          from (${embed(unionAll(parts))}) p group by p.id`;

function changedCards(changes: CardChanges): Fragment {
  const base = [own(changes), below(changes), ...named(changes), ...widelyChanged(changes)];
  return distinct(changes.hops > 0 ? [around(unionAll(base), changes)] : base);
}

/** Cards whose changes affect the rows of their relations: name, external id, or visible cost attributes. */
function changedEnds(changes: CardChanges, costs: boolean): Fragment {
  const roles = costs ? '' : "or e.event_type like 'stakeholder.%'";
  const condition = `(${cardUpdate(RENAMED)} ${roles})`;
  const from = `join cards c on c.id = e.card_id where ${condition}`;
  return distinct([fromEvents(from, changes.after, changes.knownTypes), ...widelyChanged(changes)]);
}

function changedRelations(ctx: Ctx, cards: CardChanges, knownTypes: string[]): Fragment {
  const ends = cards.isFiltered ? changedCards(cards) : changedEnds(cards, may(ctx.caller, 'costs.view'));
  const types = cards.wide.relationTypes;
  return distinct([
    fragment`select e.relation_id as id, e.relation_type as type, e.position, e.relation_type = any(${knownTypes}::text[])
              and e.card_type = any(${cards.knownTypes}::text[]) and e.peer_card_type = any(${cards.knownTypes}::text[]) as known
            from events e where e.position > ${cards.after}::bigint and e.event_type like 'relation.%'`,
    fragment`select r.id, r.type, k.position, k.known and r.type = any(${knownTypes}::text[])
            from (${embed(ends)}) k join relations r on k.id in (r.source_id, r.target_id)`,
    fragment`select r.id, r.type, m.position, r.type = any(${knownTypes}::text[])
            from unnest(${[...types.keys()]}::text[], ${[...types.values()]}::bigint[]) as m (type, position) join relations r on r.type = m.type`,
  ]);
}

/** Costs that have changed, and those of changed cards and relations. An earlier extraction may have contained any. */
const changedCosts = (ctx: Ctx, cards: CardChanges, knownTypes: string[]): Fragment =>
  distinct([
    fragment`select (e.data ->> 'id')::uuid as id, 'cost' as type, e.position, true as known
            from events e where e.position > ${cards.after}::bigint and (e.event_type like 'cost.%'
              or e.event_type like 'relation_cost.%'
              or e.event_type = 'attachment.moved' and e.data ->> 'entity' = 'cost')`,
    fragment`select t.id, 'cost', k.position, true
            from (${embed(changedCards(cards))}) k join costs t on t.card_id = k.id`,
    fragment`select t.id, 'cost', k.position, true
            from (${embed(changedRelations(ctx, cards, knownTypes))}) k join costs t on t.relation_id = k.id`,
  ]);

/** Data flows that have changed, and those of changed cards. An earlier extraction may have contained any. */
const changedFlows = (cards: CardChanges): Fragment =>
  distinct([
    fragment`select (e.data ->> 'id')::uuid as id, 'data flow' as type, e.position, true as known
            from events e where e.position > ${cards.after}::bigint and e.event_type like 'data_flow.%'`,
    fragment`select f.id, 'data flow', k.position, true
            from (${embed(changedCards(cards))}) k join data_flows f
              on k.id in (f.source_id, f.target_id, f.interface_id) or f.data_object_ids @> array[k.id]`,
  ]);

/** Relation types of which an earlier extraction may have contained relations: visible now or then. */
function knownRelationTypes({ metamodel }: Ctx, { cardTypes, relationTypes }: WideChanges): string[] {
  const before = [...metamodel.relationTypes.values()].filter(
    (type) => cardTypes.has(type.source_type_key) || cardTypes.has(type.target_type_key),
  );
  return [...metamodel.visibleRelationTypes, ...relationTypes.keys(), ...before.map(({ key }) => key)];
}

/**
 * Builds the statement that finds the objects whose rows may have changed since a position, deleted ones included. It reads
 * the events since then, and only the rows that these name.
 */
export async function changedSince(
  snapshot: Snapshot,
  ctx: Ctx,
  request: ExportRequest,
  { after, cardTypes, relationTypes }: { after: number; cardTypes: string[]; relationTypes: string[] },
): Promise<Fragment> {
  const { kind, profile, columns, filter, types } = request;
  const wide = await findWideChanges(snapshot, ctx, after);
  const isAnyType = kind === 'relations' || types.length === 0;
  const cards: CardChanges = {
    after,
    wide,
    knownTypes: isAnyType ? [...cardTypes, ...wide.cardTypes.keys()] : cardTypes,
    paths: profile === 'roundtrip' && (columns.length === 0 || columns.includes('parent_path')),
    hops: hopsOf(parseFilter(filter)),
    authors: /created_by|updated_by/.test(filter),
    isFiltered: filter.trim() !== '',
  };
  if (kind === 'cards') return changedCards(cards);
  if (kind === 'data_flows') return changedFlows(cards);
  if (kind === 'costs') return changedCosts(ctx, cards, knownRelationTypes(ctx, wide));
  return changedRelations(ctx, cards, types.length > 0 ? relationTypes : knownRelationTypes(ctx, wide));
}

/**
 * What changed in many objects at once since a position, with the position of the last such change: types that were hidden, shown,
 * or whose costs changed, by key; and everything, where the caller's rights changed or texts of an erased user were replaced.
 */
interface WideChanges {
  cardTypes: Map<string, number>;
  relationTypes: Map<string, number>;
  everything: number | undefined;
}

interface WideChangeRow {
  kind: 'card_type' | 'relation_type' | 'everything';
  key: string | null;
  position: number;
}

/** Time before the event at a position in which wide changes are looked for as well. */
const BEFORE = "interval '1 minute'";
/** Difference between the time of an erasure's event and the time at which its job was recorded as finished. */
const AROUND = "interval '10 minutes'";

/** Which part of {@link WideChanges} the event `e` belongs to. */
const KIND = `case
    when e.event_type in ('card_type.deleted', 'relation_type.deleted')
      or e.event_type in ('card_type.updated', 'relation_type.updated')
         and jsonb_exists_any(e.data -> 'changes', ?::text[])
    then split_part(e.event_type, '.', 1)
    when e.event_type = 'user.erased'
      or e.event_type = 'role.updated' and e.data ->> 'key' = ?
         and jsonb_exists(e.data -> 'changes', 'permissions')
      or e.event_type like 'user.%' and e.data ->> 'id' = ?
         and jsonb_exists(e.data -> 'changes', 'role')
    then 'everything' end`;

/**
 * Finds wide changes after a position and in the minute before: an extraction uses the metamodel and the rights that were loaded when
 * its request began, shortly before its snapshot. Times of events grow with positions. That minute may contain a whole import, so
 * its events are found by the ids of what they are about; those of cards and relations, which are nearly all, are never wide.
 */
async function findWideChanges(snapshot: Snapshot, ctx: Ctx, after: number): Promise<WideChanges> {
  // a caller who sees all costs sees no difference when a field becomes a cost
  const columns = may(ctx.caller, 'costs.view')
    ? ['is_hidden']
    : ['is_hidden', 'fields_schema', 'attributes_schema'];
  const { role, userId } = ctx.caller;
  const ids = [
    ...ctx.metamodel.cardTypes.keys(),
    ...ctx.metamodel.relationTypes.keys(),
    ...(userId ? [userId] : []),
  ];
  const rows = await snapshot.query<WideChangeRow>(
    `with last as materialized (
       select l.at from events l where l.position <= ?::bigint order by l.position desc limit 1)
     select e.kind, e.data ->> 'key' as key, max(e.position) as position
     from (select e.*, ${KIND} as kind
       from (select n.position, n.event_type, n.data from events n where n.position > ?::bigint
             union all
             select b.position, b.event_type, b.data from events b
             where b.position <= ?::bigint and b.event_type not like 'card.%' and b.event_type not like 'relation.%'
               and b.position >= (select f.position from events f
                 where f.at > (select at - ${BEFORE} from last) order by f.at limit 1)
               and b.data ->> 'id' = any(?::text[]
                 || array(select r.id::text from roles r where r.key = ?)
                 || array(select j.payload ->> 'user_id' from jobs j cross join last
                          where j.kind = 'erase_user' and j.finished_at
                            between last.at - ${BEFORE} - ${AROUND} and last.at + ${AROUND}))) e) e
     where e.kind is not null group by 1, 2`,
    [after, columns, role, userId ?? '', after, after, ids, role],
  );
  const changes: WideChanges = { cardTypes: new Map(), relationTypes: new Map(), everything: undefined };
  for (const { kind, key, position } of rows) {
    if (kind === 'card_type') changes.cardTypes.set(key!, position);
    else if (kind === 'relation_type') changes.relationTypes.set(key!, position);
    else changes.everything = Math.max(changes.everything ?? position, position);
  }
  return changes;
}
