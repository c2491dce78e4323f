import type { CardType, CompiledField } from '../../../kernel/metamodel/metamodel.compile.ts';
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
  for (const part of qualityParts(type, card, facts)) {
    total += part.weight * part.slots;
    filled += part.weight * part.filled;
  }
  return total > 0 ? Math.round((1000 * filled) / total) / 10 : 0;
}

/** A part of the data quality: its weight counts for each of its slots. */
interface QualityPart {
  /** The field, or the bucket if there is none. */
  field?: CompiledField;
  bucket?: QualityBucket;
  weight: number;
  slots: number;
  filled: number;
}

type QualityCard = Pick<CardValues, 'subtype' | 'description' | 'lifecycle' | 'attributes'>;

/** What counts for the data quality of a card. */
function qualityParts(type: CardType, card: QualityCard, facts: QualityFacts): QualityPart[] {
  const parts: QualityPart[] = [];
  const hidden = card.subtype === null ? undefined : type.hiddenFields.get(card.subtype);
  for (const field of type.fields.values()) {
    if (hidden?.has(field.key)) continue;
    const value = ownValue(card.attributes, field.key);
    parts.push({ field, weight: field.weight, slots: 1, filled: isFilled(value) ? 1 : 0 });
  }
  const weights = type.section_config.__dataQuality ?? {};
  const add = (bucket: QualityBucket, slots: number, filled: number) =>
    parts.push({ bucket, weight: weights[bucket] ?? 1, slots, filled });
  add('description', 1, card.description?.trim() ? 1 : 0);
  add('lifecycle', 1, Object.values(card.lifecycle ?? {}).some(isFilled) ? 1 : 0);
  add('relations', type.mandatoryRelations.length, facts.filledMandatoryRelations);
  add('tags', type.mandatoryTagGroups.length, facts.filledMandatoryTagGroups);
  add('stakeholders', type.stakeholderRoles.length, facts.filledRoles);
  return parts.filter(({ weight, slots }) => weight > 0 && slots > 0);
}

/** Whether anything counts for the data quality of a card of a type and subtype; if nothing does, it has none. */
export const hasQuality = (type: CardType, subtype: string | null): boolean =>
  qualityParts(type, { subtype, description: null, lifecycle: null, attributes: {} }, noFacts).length > 0;

/** Something that a card lacks for a data quality of 100. */
export interface QualityGap {
  kind: 'field' | 'description' | 'lifecycle' | 'relation' | 'tag_group' | 'stakeholder_role';
  /** The key of the field, relation type or role, the id of the tag group; null for others. */
  key: string | null;
  /** The end of the relation type at which the card is; null for others. */
  side: 'source' | 'target' | null;
  label: string | null;
  /** By how many percent filling it raises the data quality. */
  points: number;
}

/** What a card lacks for a data quality of 100, the most valuable first. */
export function qualityGaps(type: CardType, card: QualityCard, filled: FilledSlots): QualityGap[] {
  const parts = qualityParts(type, card, qualityFacts(type, filled));
  const total = parts.reduce((sum, { weight, slots }) => sum + weight * slots, 0);
  const { missing_relations, missing_tag_groups } = missingForApproval(type, filled);
  const roles = type.stakeholderRoles.filter(({ key }) => !filled.roles.has(key));
  const gap = (kind: QualityGap['kind'], key: string | null = null, label: string | null = null) =>
    ({ kind, key, side: null, label }) as const;
  const gapsOf = ({ field, bucket }: QualityPart): Omit<QualityGap, 'points'>[] => {
    if (field) return [gap('field', field.key, field.label)];
    switch (bucket) {
      case 'relations':
        return missing_relations.map(({ type: key, side, label }) => ({
          kind: 'relation',
          key,
          side,
          label,
        }));
      case 'tags':
        return missing_tag_groups.map(({ id, name }) => gap('tag_group', id, name));
      case 'stakeholders':
        return roles.map(({ key, label }) => gap('stakeholder_role', key, label));
      default:
        return [gap(bucket!)];
    }
  };
  return parts
    .filter((part) => part.filled < part.slots)
    .flatMap((part) => {
      const points = Math.round((1000 * part.weight) / total) / 10;
      return gapsOf(part).map((each) => ({ ...each, points }));
    })
    .sort((a, b) => b.points - a.points);
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
