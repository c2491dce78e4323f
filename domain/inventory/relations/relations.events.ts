import type { EventDraft } from '../../kernel/events/events.types.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { costKeysIn } from '../cards/rules/diff.ts';
import { diffRelation } from './relations.rules.ts';
import type { StoredRelation } from './relations.types.ts';

/** The card at an end of a relation, as an event names it. */
export interface NamedEnd {
  id: string;
  name: string;
  type: string;
}

/**
 * The event of one written relation, which names both cards and shows in both histories. Without `before` it was
 * created, without `after` deleted.
 */
export function relationEvent(
  type: RelationType,
  ends: { source: NamedEnd; target: NamedEnd },
  before: StoredRelation | null,
  after: StoredRelation | null,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id } = (after ?? before)!;
  const { source, target } = ends;
  const changes = diffRelation(before, after);
  return {
    event_type:
      before === null ? 'relation.created' : after === null ? 'relation.deleted' : 'relation.updated',
    card_id: source.id,
    card_type: source.type,
    peer_card_id: target.id,
    peer_card_type: target.type,
    relation_id: id,
    relation_type: type.key,
    cost_keys: costKeysIn(changes, type.costKeys),
    data: {
      id,
      type: type.key,
      relation_label: type.label,
      relation_reverse_label: type.reverse_label,
      source_id: source.id,
      source_name: source.name,
      source_type: source.type,
      target_id: target.id,
      target_name: target.name,
      target_type: target.type,
      ...more,
      changes,
    },
  };
}

/** The topic that every change to relations of a type raises. */
export const relationsTopic = (type: string): string => `relations:${type}`;
