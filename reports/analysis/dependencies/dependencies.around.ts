import { type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment as Condition } from '../../../domain/kernel/lists/lists.types.ts';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { fragment, type Neighbourhood } from './dependencies.graph.ts';

interface CardRow {
  id: string;
  type: string;
  parent_id: string | null;
  /** The requested center. */
  name?: string;
}

/** What is wanted around some centers. */
interface Around {
  centers: string[];
  depth: number;
  /** How many related cards of one type a card may have; more are counted. */
  bundle?: number | undefined;
  /** Whether the relations of all cards below the center count as its own. */
  roll_up?: boolean | undefined;
}

/**
 * Finds the cards within `depth` relations or data flows of some centers, including the visible centers.
 *
 * It runs one statement per hop, so that the planner knows the number of rows: it had estimated 11 rows for 5,000.
 * @param db a transaction with one snapshot.
 * @param condition the condition of the found cards; the centers only have to be visible.
 */
export async function cardsAround(
  db: Sql,
  ctx: Ctx,
  { centers, depth, bundle, roll_up }: Around,
  condition: Condition,
  visibleCards: Condition,
): Promise<Neighbourhood> {
  const types = ctx.metamodel.visibleRelationTypes;
  const cards = fragment(condition);
  const visible = fragment(visibleCards);
  const found = new Map<string, CardRow>();
  /** Reads cards and returns their ids. */
  const read = async (statement: Fragment): Promise<string[]> => {
    const rows = await rowsOf(db, statement);
    for (const row of rows) found.set(row.id, row);
    return rows.map(({ id }) => id);
  };
  let last = await read(
    sql`select c.id, c.type, c.parent_id from cards c where c.id = any(${centers}::uuid[]) and ${visible}`,
  );
  const rolled = roll_up && last.length > 0 ? await read(below(centers, visible)) : [];
  last = [...last, ...rolled];
  const bundler = bundle === undefined ? undefined : createBundler(bundle, centers[0]!, rolled);
  for (let hop = 0; hop < depth && last.length > 0; hop += 1) {
    // `r.type || ''` prevents the index that begins with the type, which would be scanned for each type and card
    const from = (end: string) => raw(bundler ? `, ${end} as from_id` : '');
    const near = await rowsOf<Pair>(
      db,
      sql`select r.target_id as id${from('r.source_id')} from relations r
            where r.source_id = any(${last}::uuid[]) and (r.type || '') = any(${types}::text[])
          union select r.source_id${from('r.target_id')} from relations r
            where r.target_id = any(${last}::uuid[]) and (r.type || '') = any(${types}::text[])
          union select f.target_id${from('f.source_id')} from data_flows f where f.source_id = any(${last}::uuid[])
          union select f.source_id${from('f.target_id')} from data_flows f where f.target_id = any(${last}::uuid[])`,
    );
    const fresh = near.filter(({ id }) => !found.has(id));
    const ids = [...new Set(fresh.map(({ id }) => id))];
    last = await read(
      sql`select c.id, c.type, c.parent_id from cards c where c.id = any(${ids}::uuid[]) and ${cards}`,
    );
    if (bundler) last = bundler.keep(fresh, found);
  }
  const all = [...found.values()];
  const parents = new Set(all.flatMap(({ parent_id: parent }) => parent ?? []));
  return {
    centers,
    ...(rolled.length > 0 && { rolled }),
    ...(bundler && { bundles: bundler.bundles(found) }),
    ids: all.map(({ id }) => id),
    types: all.map(({ type }) => type),
    paths: await readPaths(db, [...parents], visible),
  };
}

/** SQL of the visible, active cards below others. */
const below = (ids: string[], visible: Fragment): Fragment => sql`with recursive below as (
    select c.id, c.type, c.parent_id, 1 as level from cards c where c.parent_id = any(${ids}::uuid[]) and ${visible}
    union select c.id, c.type, c.parent_id, below.level + 1
    from below join cards c on c.parent_id = below.id where below.level < 100 and ${visible})
  select id, type, parent_id from below`;

/** A related card, and the card to which it is related. */
interface Pair {
  id: string;
  from_id: string;
}

/** Leaves out the related cards of one type of a card if there are more than `most`. */
function createBundler(most: number, center: string, rolled: string[]) {
  const own = new Set(rolled);
  const large = new Map<string, { card_id: string; type: string; ids: ReadonlySet<string> }>();
  return {
    /** Removes the cards of large groups from the found ones. @returns the remaining ones of those pairs. */
    keep(fresh: readonly Pair[], found: Map<string, CardRow>): string[] {
      const groups = new Map<string, { card_id: string; type: string; ids: Set<string> }>();
      for (const { id, from_id } of fresh) {
        const type = found.get(id)?.type;
        if (type === undefined) continue;
        const card_id = own.has(from_id) ? center : from_id;
        const key = `${card_id} ${type}`;
        const group = groups.get(key) ?? { card_id, type, ids: new Set() };
        groups.set(key, group);
        group.ids.add(id);
      }
      const kept = new Set<string>();
      for (const [key, group] of groups) {
        if (group.ids.size > most) large.set(key, group);
        else for (const id of group.ids) kept.add(id);
      }
      for (const { id } of fresh) if (!kept.has(id)) found.delete(id);
      return [...kept];
    },
    /** The numbers of cards of large groups that were not found otherwise. */
    bundles(found: ReadonlyMap<string, CardRow>): Neighbourhood['bundles'] {
      return [...large.values()].flatMap(({ card_id, type, ids }) => {
        const count = [...ids].filter((id) => !found.has(id)).length;
        return count > 0 ? [{ card_id, type, count }] : [];
      });
    },
  };
}

/** Reads the names of visible cards and of their visible ancestors, root first, as JSON. */
async function readPaths(db: Sql, ids: string[], visible: Fragment): Promise<Neighbourhood['paths']> {
  const known = new Map<string, CardRow>();
  for (let next = ids; next.length > 0; ) {
    const rows = await rowsOf(
      db,
      sql`select c.id, c.type, c.parent_id, c.name from cards c where c.id = any(${next}::uuid[]) and ${visible}`,
    );
    for (const row of rows) known.set(row.id, row);
    const above = rows.flatMap(({ parent_id: parent }) => parent ?? []);
    next = [...new Set(above)].filter((id) => !known.has(id));
  }
  const names = new Map<string, string>();
  const namesTo = ({ id, parent_id: parent, name }: CardRow): string => {
    let text = names.get(id);
    if (text === undefined) {
      const above = parent === null ? undefined : known.get(parent);
      text = `${above ? `${namesTo(above)},` : ''}${JSON.stringify(name)}`;
      names.set(id, text);
    }
    return text;
  };
  const below = ids.filter((id) => known.has(id));
  return { below, paths: below.map((id) => `[${namesTo(known.get(id)!)}]`) };
}

const rowsOf = <Row = CardRow>(db: Sql, statement: Fragment): Promise<Row[]> =>
  query(db).rows<Row>`${embed(statement)}`;
