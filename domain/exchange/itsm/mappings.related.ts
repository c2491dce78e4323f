import { isUuid } from '../../../platform/uuid.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { type LocalField, localField } from './mappings.paths.ts';

/** The relations of one type that a path stands for, as a card sees them. */
export interface RelatedPath {
  relationType: string;
  /** The card is their target. */
  reversed: boolean;
}

const PATH = /^(reverse_)?relations\.(.+)$/;

/** What a path of relations stands for; undefined for any other path. */
export function relatedPath(path: string): RelatedPath | undefined {
  const [, reversed, relationType] = PATH.exec(path) ?? [];
  return relationType === undefined ? undefined : { relationType, reversed: reversed !== undefined };
}

/** What can be mapped to a column: a field of the type's cards, or the card at the other end of their relations. */
export function mappedField(metamodel: Metamodel, type: CardType, path: string): LocalField | undefined {
  const related = relatedPath(path);
  if (!related) return localField(type, path);
  const relation = metamodel.relationTypes.get(related.relationType);
  if (!relation || !metamodel.visibleRelationTypes.includes(relation.key)) return undefined;
  const [here, there] = related.reversed
    ? [relation.target_type_key, relation.source_type_key]
    : [relation.source_type_key, relation.target_type_key];
  if (here !== type.key) return undefined;
  return {
    path,
    kind: 'card',
    refersTo: there,
    cost: false,
    readonly: null,
    fault: (value) => (isUuid(String(value)) ? undefined : 'must be the id of a card'),
  };
}
