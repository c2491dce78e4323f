import type { CardType, MandatoryRelation } from '../../../kernel/metamodel/metamodel.compile.ts';
import type { ApprovalStatus } from './card.types.ts';
import type { Changes } from './diff.ts';
import type { FilledSlots } from './quality.ts';

const breakingFields: ReadonlySet<string> = new Set(['name', 'description', 'subtype', 'alias', 'parent_id']);

/** Whether a change of this field, as it is named in events, ends an approval. */
function breaksApproval(field: string): boolean {
  return breakingFields.has(field) || field.startsWith('lifecycle.') || field.startsWith('attributes.');
}

/** The approval status after the given changes: an approved card whose content changes is BROKEN. */
export function approvalAfter(status: ApprovalStatus, changes: Changes): ApprovalStatus {
  return status === 'APPROVED' && Object.keys(changes).some(breaksApproval) ? 'BROKEN' : status;
}

export interface MissingForApproval {
  missing_relations: { type: string; side: MandatoryRelation['side']; label: string }[];
  missing_tag_groups: { id: string; name: string }[];
}

/** The mandatory relations and tag groups that a card still lacks; both empty when it can be approved. */
export function missingForApproval(type: CardType, filled: FilledSlots): MissingForApproval {
  return {
    missing_relations: type.mandatoryRelations
      .filter((slot) => !filled.relations.has(`${slot.relationType}/${slot.side}`))
      .map((slot) => ({ type: slot.relationType, side: slot.side, label: slot.label })),
    missing_tag_groups: type.mandatoryTagGroups.filter((group) => !filled.tagGroups.has(group.id)),
  };
}
