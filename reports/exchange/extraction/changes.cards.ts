import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { cardUpdate, type EventKinds, MOVED, OWN, ofPeople, ofTags, RENAMED } from './changes.kinds.ts';
import type { Moved } from './changes.moved.ts';

/** What decides which cards may look different. */
export interface CardChanges {
  after: number;
  moved: Moved;
  /** Types of which the caller may have been told cards before. */
  told: string[];
  /** Whether cards show the path of their ancestors. */
  paths: boolean;
  /** Over how many relations the filter looks at other cards. */
  hops: number;
  /** Whether the filter asks who has made or changed a card. */
  authors: boolean;
  /** Whether there is a filter. */
  filtered: boolean;
}

const union = (parts: Fragment[]): Fragment => ({
  sql: parts.map(({ sql }) => sql).join('\nunion all\n'),
  bindings: parts.flatMap(({ bindings }) => bindings),
});

/** Rows of a part: a card, its type, the position, and whether the caller may have been told of it before. */
const present = (position: string, from: string, bindings: unknown[], told: string[]): Fragment => ({
  sql: `select c.id, c.type, ${position} as position, c.type = any(?::text[]) as told from ${from}`,
  bindings: [told, ...bindings],
});

/** Cards whose own row, tags or stakeholders have changed, and those that are gone. */
function own({ after, told }: CardChanges): Fragment {
  return {
    sql: `select e.card_id as id, e.card_type as type, e.position, e.card_type = any(?::text[]) as told from events e
          where e.position > ?::bigint and e.card_id is not null and ${OWN}`,
    bindings: [told, after],
  };
}

/** Cards that show the name or external id of a parent that has changed, or a path through it. */
function below({ after, told, paths }: CardChanges): Fragment {
  const renamed = (columns: string) => `e.position > ?::bigint and ${cardUpdate(columns)}`;
  if (!paths) {
    const from = `events e join cards c on c.parent_id = e.card_id where ${renamed(RENAMED)}`;
    return present('e.position', from, [after], told);
  }
  const tree = `with recursive under as (
      select e.card_id as id, e.position, 0 as depth from events e
      where ${renamed(MOVED)}
      union
      select k.id, under.position, under.depth + 1 from cards k join under on k.parent_id = under.id
      where under.depth < 50) select * from under`;
  return present('u.position', `(${tree}) u join cards c on c.id = u.id`, [after], told);
}

/** Cards with a tag, or with a person, that is called otherwise now. */
function named(changes: CardChanges, kinds: EventKinds): Fragment[] {
  const { after, told, authors } = changes;
  const id = (condition: string) => `(case when ${condition} then e.data ->> 'id' end)::uuid`;
  const parts: Fragment[] = [];
  if (kinds.tags) {
    const tag = id("e.event_type = 'tag.updated'");
    const group = id("e.event_type = 'tag_group.updated'");
    const from = `events e join tags t on t.id = ${tag} or t.tag_group_id = ${group}
       join card_tags ct on ct.tag_id = t.id join cards c on c.id = ct.card_id
       where e.position > ?::bigint and ${ofTags}`;
    parts.push(present('e.position', from, [after], told));
  }
  if (!kinds.people) return parts;
  const user = id("jsonb_exists(e.data -> 'changes', 'email')");
  const people = `e.position > ?::bigint and ${ofPeople}`;
  const held = `events e join stakeholders s on s.user_id = ${user} join cards c on c.id = s.card_id where ${people}`;
  parts.push(present('e.position', held, [after], told));
  if (authors) {
    const from = `events e join cards c on ${user} in (c.created_by, c.updated_by) where ${people}`;
    parts.push(present('e.position', from, [after], told));
  }
  return parts;
}

/** All cards of types that have come into sight or left it, or all there are. */
function moving({ moved, told }: CardChanges): Fragment[] {
  const parts: Fragment[] = [];
  if (moved.cardTypes.size > 0) {
    parts.push({
      sql: `select c.id, c.type, m.position, c.type = any(?::text[]) as told
            from unnest(?::text[], ?::bigint[]) as m (type, position) join cards c on c.type = m.type`,
      bindings: [told, [...moved.cardTypes.keys()], [...moved.cardTypes.values()]],
    });
  }
  if (moved.everything !== undefined) {
    parts.push(present('?::bigint', 'cards c', [], told));
    parts.at(-1)!.bindings.unshift(moved.everything);
  }
  return parts;
}

/** Cards from which the filter may look at one of the given cards, over relations. */
function around(base: Fragment, changes: CardChanges): Fragment {
  const { after, told, hops } = changes;
  const ends = `select case n when 1 then e.card_id else e.peer_card_id end as id, e.position
    from events e cross join generate_series(1, 2) n where e.position > ?::bigint and e.event_type like 'relation.%'`;
  const near = `with recursive near as (
      select b.id, max(b.position) as position, 0 as hop
      from (select id, position from (${base.sql}) b union all ${ends}) b group by b.id
      union
      select case when r.source_id = near.id then r.target_id else r.source_id end, near.position, near.hop + 1
      from near join relations r on near.id in (r.source_id, r.target_id) where near.hop < ?::int)
    select * from near`;
  const reached = present(
    'n.position',
    `(${near}) n join cards c on c.id = n.id`,
    [...base.bindings, after, hops],
    told,
  );
  return union([base, reached]);
}

/** Each object once, with the last of its positions. */
export function once(parts: Fragment): Fragment {
  return {
    sql: `select p.id, max(p.type) as type, max(p.position) as position, bool_or(p.told) as told
          from (${parts.sql}) p group by p.id`,
    bindings: parts.bindings,
  };
}

/**
 * The cards that may look different than at a position, those that are gone among them: rows of `id`, `type`,
 * `position` and `told`. It reads the events since, and of the tables only what they name.
 */
export function changedCards(changes: CardChanges, kinds: EventKinds): Fragment {
  const base = union([
    own(changes),
    ...(kinds.parents ? [below(changes)] : []),
    ...named(changes, kinds),
    ...moving(changes),
  ]);
  return once(changes.hops > 0 ? around(base, changes) : base);
}

/**
 * Whether all cards that may look different are there still, for a caller who sees all cards: none was deleted, no filter may
 * have let one go, and no type has come out of sight.
 */
export function allRemain({ moved, filtered }: CardChanges, { removals }: EventKinds): boolean {
  return !removals && !filtered && moved.cardTypes.size === 0 && moved.everything === undefined;
}

/** Whether all cards that may look different are those that the events are about, and are there still. */
export function onlyOwn(changes: CardChanges, kinds: EventKinds): boolean {
  return allRemain(changes, kinds) && !kinds.parents && !kinds.tags && !kinds.people;
}

/** The cards that look different to their relations: by name, external id, or whether and how much of them is seen. */
export function changedEnds(changes: CardChanges, costs: boolean): Fragment {
  const { after, told } = changes;
  const roles = costs ? '' : "or e.event_type like 'stakeholder.%'";
  const renamed = present(
    'e.position',
    `events e join cards c on c.id = e.card_id where e.position > ?::bigint and (
       ${cardUpdate(RENAMED)} ${roles})`,
    [after],
    told,
  );
  return once(union([renamed, ...moving(changes)]));
}
