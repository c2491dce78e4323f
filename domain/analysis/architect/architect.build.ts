import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { Architecture, CardName, ProposedCard, ProposedRelation } from './architect.types.ts';
import { findRelationType } from './architect.words.ts';

/** The maximum number of cards and relations that one architecture proposes. */
const MOST_CARDS = 300;
const MOST_RELATIONS = 1000;
/** The maximum number of reasons of a card or relation. */
const MOST_REASONS = 20;

export type Builder = ReturnType<typeof createBuilder>;

/** Collects the cards and relations of a target architecture, without duplicates. */
export function createBuilder(metamodel: Metamodel) {
  const cards = new Map<string, ProposedCard>();
  const relations = new Map<string, ProposedRelation>();
  const names = new Set<string>();
  let made = 0;
  let left_out = 0;

  const put = (card: ProposedCard): boolean => {
    if (!cards.has(card.id) && cards.size >= MOST_CARDS) {
      left_out += 1;
      return false;
    }
    cards.set(card.id, card);
    return true;
  };
  /** A name that no other new card of the type has. */
  const freeName = (type: string, name: string): string => {
    for (let n = 1; ; n += 1) {
      const tried = n === 1 ? name : `${name} ${n}`;
      const key = `${type}/${tried.toLowerCase()}`;
      if (names.has(key)) continue;
      names.add(key);
      return tried;
    }
  };

  /** Proposes a relation of a given type. */
  const relateBy = (type: string, source: CardName, target: CardName, reason: string): void => {
    const key = `${type}/${source.id}/${target.id}`;
    const before = relations.get(key);
    if (before) {
      if (before.reasons.length < MOST_REASONS && !before.reasons.includes(reason))
        before.reasons.push(reason);
      return;
    }
    if (source.id === target.id) return;
    if (relations.size >= MOST_RELATIONS) {
      left_out += 1;
      return;
    }
    relations.set(key, {
      type,
      label: metamodel.relationTypes.get(type)!.label,
      source_id: source.id,
      target_id: target.id,
      source_name: source.name,
      target_name: target.name,
      reasons: [reason],
    });
  };

  return {
    /** Proposes a new card. @returns its id for relations; undefined if the limit is reached. */
    add(card: Omit<ProposedCard, 'id' | 'change' | 'reasons'>, reasons: string[]): CardName | undefined {
      const id = `new-${made + 1}`;
      const name = freeName(card.type, card.name);
      if (!put({ ...card, id, name, change: 'new', reasons: reasons.slice(0, MOST_REASONS) }))
        return undefined;
      made += 1;
      return { id, name, type: card.type };
    },
    /** Proposes to change or retire a stored card; retiring takes precedence. */
    touch(
      { id, name, type }: CardName,
      change: 'changed' | 'retired',
      attributes: Record<string, unknown>,
      reasons: string[],
    ): void {
      const before = cards.get(id);
      const retired = before?.change === 'retired' || change === 'retired';
      put({
        id,
        change: retired ? 'retired' : 'changed',
        type,
        subtype: null,
        name,
        description: null,
        attributes:
          before?.change === 'retired' ? before.attributes : { ...before?.attributes, ...attributes },
        reasons: [...new Set([...(before?.reasons ?? []), ...reasons])].slice(0, MOST_REASONS),
      });
    },
    /** Proposes a relation between two cards, if the metamodel has a relation type for their types. */
    relate(one: CardName, other: CardName, reason: string): void {
      const way = findRelationType(metamodel, one.type, other.type);
      if (!way) return;
      const [source, target] = way.forward ? [one, other] : [other, one];
      relateBy(way.type.key, source, target, reason);
    },
    relateBy,
    architecture: (): Architecture => ({
      cards: [...cards.values()],
      relations: [...relations.values()],
      left_out,
    }),
  };
}
