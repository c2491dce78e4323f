import type { Sql } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';
import { limitedBelow, parentCycle } from './cards.tree.ts';
import { hasLevels, LEVEL_FIELD, levelAt, MACRO, maxDepth, type Place, tooDeep } from './rules/capability.ts';

/** What a command does to the hierarchy, all at once. */
export interface TreeChange {
  /** The new parents of cards that move. */
  moved: ReadonlyMap<string, string | null>;
  /** Cards that leave for good. */
  gone?: ReadonlySet<string>;
  /** Cards whose level is set to Macro, or from Macro to another one. */
  macros?: ReadonlyMap<string, boolean>;
}

interface Node {
  id: string;
  parent_id: string | null;
  type: string;
  /** The capability level that it has. */
  level: string | null;
}

/**
 * The capability levels that differ once the hierarchy has changed: of the cards that change, and of all that lies
 * below them. Call it under the exclusive hierarchy lock.
 * @returns the new level of each such card, those that change included.
 * @throws EstateError `parent_cycle`, `capability_too_deep`, `too_many_descendants`.
 */
export async function levelsAfter(
  { sql, metamodel }: Pick<Work, 'sql' | 'metamodel'>,
  { moved, gone = new Set(), macros = new Map() }: TreeChange,
): Promise<Map<string, string>> {
  const changing = [...new Set([...moved.keys(), ...macros.keys()])];
  if (changing.length === 0) return new Map();
  const leveled = new Set([...metamodel.cardTypes.values()].filter(hasLevels).map((type) => type.key));
  const tree = await withAncestors(sql, [...changing, ...[...moved.values()].filter((id) => id !== null)]);
  const following = new Set(changing);
  for (const card of await below(sql, changing, [...leveled])) {
    tree.set(card.id, card);
    following.add(card.id);
  }
  for (const [id, parent] of moved) {
    const card = tree.get(id);
    if (card) tree.set(id, { ...card, parent_id: parent });
  }

  const placeOf = placesIn(tree, macros);
  const levels = new Map<string, string>();
  for (const id of following) {
    const card = tree.get(id);
    if (!card || gone.has(id)) continue;
    const place = placeOf(card);
    if (place === undefined) throw parentCycle();
    if (!leveled.has(card.type)) continue;
    if (place.depth > maxDepth(place.underMacro)) throw tooDeep(place.underMacro);
    const level = levelAt(place);
    if (level !== card.level) levels.set(id, level);
  }
  return levels;
}

/** The place of a card of the tree; undefined where it lies below itself. */
function placesIn(
  tree: ReadonlyMap<string, Node>,
  macros: ReadonlyMap<string, boolean>,
): (card: Node) => Place | undefined {
  const known = new Map<string, Place>();
  return (card) => {
    const chain: Node[] = [];
    const seen = new Set<string>();
    let at: Node | undefined = card;
    while (at && !known.has(at.id)) {
      if (seen.has(at.id)) return undefined;
      seen.add(at.id);
      chain.push(at);
      at = at.parent_id === null ? undefined : tree.get(at.parent_id);
    }
    let place = at && known.get(at.id);
    for (const node of chain.toReversed()) {
      place = place
        ? { depth: place.depth + 1, underMacro: place.underMacro }
        : { depth: 1, underMacro: macros.get(node.id) ?? node.level === MACRO };
      known.set(node.id, place);
    }
    return place;
  };
}

/** Cards with everything above them, by id. */
async function withAncestors(sql: Sql, ids: string[]): Promise<Map<string, Node>> {
  const { rows } = await sql.raw(
    `with recursive up as (
       select id, parent_id, type, attributes ->> '${LEVEL_FIELD}' as level from cards where id = any(?::uuid[])
       union
       select c.id, c.parent_id, c.type, c.attributes ->> '${LEVEL_FIELD}' from up join cards c on c.id = up.parent_id
     ) select * from up`,
    [ids],
  );
  return new Map(rows.map((row: Node) => [row.id, row]));
}

/** All cards of leveled types below the given ones, each once. */
async function below(sql: Sql, ids: string[], leveled: string[]): Promise<Node[]> {
  if (leveled.length === 0) return [];
  return await limitedBelow(
    sql,
    `select id, parent_id, type, attributes ->> '${LEVEL_FIELD}' as level from cards
     where parent_id = any(?::uuid[]) and type = any(?::text[])
     union
     select c.id, c.parent_id, c.type, c.attributes ->> '${LEVEL_FIELD}' from below join cards c on c.parent_id = below.id`,
    [ids, leveled],
  );
}
