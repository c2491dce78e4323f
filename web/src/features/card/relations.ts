import type { CardOverview } from '#client';
import { type Direction, type RelationType, useMetamodel } from '../../kit/metamodel.tsx';
import { useCard } from './context.tsx';

export type RelatedItem = NonNullable<CardOverview['relations']>[number]['items'][number];

/** The relations of the card of one type, read from one end. */
export interface RelationGroup {
  key: string;
  type: RelationType;
  direction: Direction;
  /** The key of the card type at the other end. */
  other: string;
  /** Whether the card needs one for its approval. */
  isMandatory: boolean;
  count: number;
  /** The first ones by name. */
  items: readonly RelatedItem[];
}

/** Relations between a card and its predecessors and successors. */
const isLineage = ({ key, source_type_key, target_type_key }: RelationType) =>
  source_type_key === target_type_key && key.endsWith('Successor');

interface RelationGroups {
  /** Those that have relations or must have some. */
  shown: RelationGroup[];
  /** Others that the card could have. */
  empty: RelationGroup[];
  /** Predecessors and successors. */
  lineage: RelationGroup[];
}

/** All relations that the card's type can have, in the metamodel's order; undefined if they are hidden. */
export function useRelationGroups(): RelationGroups | undefined {
  const { card, overview } = useCard();
  const { relationTypes, type: typeOf } = useMetamodel();
  if (!overview.relations) return undefined;
  const groupOf = (type: RelationType, direction: Direction): RelationGroup => {
    const found = overview.relations!.find(
      (one) => one.relation_type_key === type.key && one.direction === direction,
    );
    return {
      key: `relation-${type.key}-${direction}`,
      type,
      direction,
      other: direction === 'outgoing' ? type.target_type_key : type.source_type_key,
      isMandatory: direction === 'outgoing' ? type.source_mandatory : type.target_mandatory,
      count: found?.count ?? 0,
      items: found?.items ?? [],
    };
  };
  const all = [...relationTypes]
    .filter(({ is_hidden }) => !is_hidden)
    .sort((a, b) => a.sort_order - b.sort_order)
    .flatMap((type) => [
      ...(type.source_type_key === card.type && type.source_visible ? [groupOf(type, 'outgoing')] : []),
      ...(type.target_type_key === card.type && type.target_visible ? [groupOf(type, 'incoming')] : []),
    ])
    .filter(({ other }) => typeOf(other) && !typeOf(other)!.is_hidden);
  const lineage = typeOf(card.type)?.has_successors ? all.filter(({ type }) => isLineage(type)) : [];
  const others = all.filter((group) => !lineage.includes(group));
  return {
    shown: others.filter(({ count, isMandatory }) => count > 0 || isMandatory),
    empty: others.filter(({ count, isMandatory }) => count === 0 && !isMandatory),
    lineage,
  };
}
