import { invalidField } from '../../../../platform/errors.ts';
import type { CardType } from '../../../kernel/metamodel/metamodel.compile.ts';
import type { StoredCard } from '../cards.load.ts';
import { requireFittingParent, type StandingParent } from '../cards.tree.ts';
import { LEVEL_FIELD, MACRO, type Place } from '../rules/capability.ts';
import { type BulkCreateRow, pathOf, type Surroundings } from './bulk.create.types.ts';

/** The place that a row names. */
export interface FoundParent {
  id: string | null;
  /** The place of a card of the type there. @throws EstateError when it may not lie there. */
  under(type: CardType): Place;
}

/** The cards that earlier rows have made. */
export interface MadeCards {
  standing: Map<string, StandingParent>;
  /** The card of the name below a parent. */
  below(type: string, parent: string | null, lowerName: string): string | undefined;
  /** All of the name, wherever they lie. */
  named(type: string, lowerName: string): string[];
  byExternalId(type: string, externalId: string): string | undefined;
  add(card: StoredCard, lowerName: string, standing: StandingParent): void;
}

export function madeCards(): MadeCards {
  const standing = new Map<string, StandingParent>();
  const children = new Map<string, string>();
  const names = new Map<string, string[]>();
  const keys = new Map<string, string>();
  const key = (...parts: (string | null)[]) => JSON.stringify(parts);
  return {
    standing,
    below: (type, parent, name) => children.get(key(type, parent, name)),
    named: (type, name) => names.get(key(type, name)) ?? [],
    byExternalId: (type, externalId) => keys.get(key(type, externalId)),
    add(card, name, stands) {
      standing.set(card.id, stands);
      children.set(key(card.type, card.parent_id, name), card.id);
      names.set(key(card.type, name), [...(names.get(key(card.type, name)) ?? []), card.id]);
      if (card.external_id) keys.set(key(card.type, card.external_id), card.id);
    },
  };
}

/** Makes a row's card known to the rows after it. */
export function noteMade(made: MadeCards, card: StoredCard, parent: FoundParent, around: Surroundings): void {
  const above =
    parent.id === null ? undefined : (made.standing.get(parent.id) ?? around.standing.get(parent.id));
  const place: Place = above
    ? { depth: above.place.depth + 1, underMacro: above.place.underMacro }
    : { depth: 2, underMacro: card.attributes[LEVEL_FIELD] === MACRO };
  made.add(card, around.lower(card.name), { id: card.id, type: card.type, status: 'ACTIVE', place });
}

/**
 * Finds the parent that a row names, in the inventory or among the cards of earlier rows.
 * @throws EstateError naming `parent_id`, `parent_path` or `parent_name`.
 */
export function findParent(row: BulkCreateRow, around: Surroundings, made: MadeCards): FoundParent {
  const id = idOf(row, around, made);
  return {
    id,
    under(type) {
      if (id === null) return { depth: 1, underMacro: false };
      const parent = made.standing.get(id) ?? around.standing.get(id);
      requireFittingParent(type, parent);
      return parent!.place;
    },
  };
}

function idOf(row: BulkCreateRow, around: Surroundings, made: MadeCards): string | null {
  if (row.parent_id) return row.parent_id;
  if (row.parent_path) return walk(row, around, made);
  if (!row.parent_name) return null;
  const stored = around.named(row.type, row.parent_name);
  const candidates = [...stored, ...made.named(row.type, around.lower(row.parent_name))];
  if (candidates.length === 1) return candidates[0]!;
  throw candidates.length === 0
    ? invalidField('parent_name', 'unknown_parent', `there is no card of the type ${row.type} of this name`)
    : invalidField('parent_name', 'ambiguous_parent', 'several cards have this name; give their path');
}

/** Follows the path from its root; stored cards come first, since no row can make a second of the name. */
function walk(row: BulkCreateRow, around: Surroundings, made: MadeCards): string | null {
  let at: string | null = null;
  const steps: string[] = [];
  for (const step of pathOf(row)) {
    steps.push(step);
    at = around.byPath(row.type, steps) ?? made.below(row.type, at, around.lower(step)) ?? missing(steps);
  }
  return at;
}

function missing(steps: string[]): never {
  throw invalidField('parent_path', 'unknown_parent', `there is no card at step ${steps.length} of the path`);
}
