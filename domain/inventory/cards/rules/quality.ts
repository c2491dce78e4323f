import type { CardType } from '../../../kernel/metamodel/metamodel.compile.ts';
import type { QualityBucket } from '../../../kernel/metamodel/metamodel.types.ts';
import { type ApprovalStatus, type CardValues, type Changes, ownValue } from './diff.ts';

/** The relations, tags and stakeholder roles of a card that count for its data quality and approval. */
export interface FilledSlots {
  /** `<relation type>/<source|target>`: the sides on which the card has a relation. */
  relations: ReadonlySet<string>;
  /** Ids of the tag groups from which the card has a tag. */
  tagGroups: ReadonlySet<string>;
  /** Keys of the stakeholder roles that are assigned to a user. */
  roles: ReadonlySet<string>;
}

/** The number of the type's mandatory relation sides, mandatory tag groups and active roles that are filled. */
interface QualityFacts {
  filledMandatoryRelations: number;
  filledMandatoryTagGroups: number;
  filledRoles: number;
}

/** The facts of a card without relations, tags or stakeholders. */
export const noFacts: QualityFacts = {
  filledMandatoryRelations: 0,
  filledMandatoryTagGroups: 0,
  filledRoles: 0,
};

/** Counts which of the type's requirements the card fulfils. */
export function qualityFacts(type: CardType, filled: FilledSlots): QualityFacts {
  return {
    filledMandatoryRelations: type.mandatoryRelations.filter((slot) =>
      filled.relations.has(`${slot.relationType}/${slot.side}`),
    ).length,
    filledMandatoryTagGroups: type.mandatoryTagGroups.filter((group) => filled.tagGroups.has(group.id))
      .length,
    filledRoles: type.stakeholderRoles.filter((role) => filled.roles.has(role.key)).length,
  };
}

/** A field counts as filled unless it is null, an empty text or false. */
const isFilled = (value: unknown): boolean => value !== null && value !== '' && value !== false;

/**
 * A card's data quality in percent, with one decimal: the filled share of all weights. Each field counts its weight
 * (fields with weight 0 or less, or hidden by the subtype, do not count). Description, lifecycle, each mandatory
 * relation side, each mandatory tag group and each active stakeholder role count 1, or the weight in
 * `section_config.__dataQuality`. 0 if nothing counts.
 */
export function dataQuality(
  type: CardType,
  card: Pick<CardValues, 'subtype' | 'description' | 'lifecycle' | 'attributes'>,
  facts: QualityFacts,
): number {
  let total = 0;
  let filled = 0;
  const count = (weight: number, slots: number, filledSlots: number) => {
    if (weight <= 0) return;
    total += weight * slots;
    filled += weight * filledSlots;
  };

  const hidden = card.subtype === null ? undefined : type.hiddenFields.get(card.subtype);
  for (const field of type.fields.values()) {
    if (!hidden?.has(field.key))
      count(field.weight, 1, isFilled(ownValue(card.attributes, field.key)) ? 1 : 0);
  }
  const weights = type.section_config.__dataQuality ?? {};
  const bucket = (name: QualityBucket, slots: number, filledSlots: number) =>
    count(weights[name] ?? 1, slots, filledSlots);
  bucket('description', 1, card.description?.trim() ? 1 : 0);
  bucket('lifecycle', 1, Object.values(card.lifecycle ?? {}).some(isFilled) ? 1 : 0);
  bucket('relations', type.mandatoryRelations.length, facts.filledMandatoryRelations);
  bucket('tags', type.mandatoryTagGroups.length, facts.filledMandatoryTagGroups);
  bucket('stakeholders', type.stakeholderRoles.length, facts.filledRoles);
  return total > 0 ? Math.round((1000 * filled) / total) / 10 : 0;
}

const breakingFields: ReadonlySet<string> = new Set(['name', 'description', 'subtype', 'alias', 'parent_id']);

/** Whether a change of this field, named as in events, breaks an approval. */
function breaksApproval(field: string): boolean {
  return breakingFields.has(field) || field.startsWith('lifecycle.') || field.startsWith('attributes.');
}

/** The approval status after the given changes: an approved card whose content changes is BROKEN. */
export function approvalAfter(status: ApprovalStatus, changes: Changes): ApprovalStatus {
  return status === 'APPROVED' && Object.keys(changes).some(breaksApproval) ? 'BROKEN' : status;
}

/** The mandatory relations and tag groups that a card lacks; both are empty if it can be approved. */
export function missingForApproval(type: CardType, filled: FilledSlots) {
  return {
    missing_relations: type.mandatoryRelations
      .filter((slot) => !filled.relations.has(`${slot.relationType}/${slot.side}`))
      .map((slot) => ({ type: slot.relationType, side: slot.side, label: slot.label })),
    missing_tag_groups: type.mandatoryTagGroups.filter((group) => !filled.tagGroups.has(group.id)),
  };
}
