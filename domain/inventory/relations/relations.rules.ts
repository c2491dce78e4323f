import { EstateError, type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';
import type { Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { summedKeys } from '../cards/cards.rows.ts';
import { type Changes, diffKeys, ownValue, sameValue } from '../cards/rules/diff.ts';
import { mergeAttributes } from '../cards/rules/merge.ts';
import { checkAttributes, checkText, summedError } from '../cards/rules/values.ts';
import type { RelationEnd, RelationInput, StoredRelation } from './relations.model.ts';

const MAX_DESCRIPTION = 10_000;

/** The relation type of the key. @throws EstateError naming `type` when it does not exist or is hidden. */
export function requireRelationType(metamodel: Metamodel, key: string): RelationType {
  const type = metamodel.relationTypes.get(key);
  if (type && metamodel.visibleRelationTypes.includes(key)) return type;
  throw invalidField('type', 'unknown_type', 'is no relation type');
}

/**
 * Checks that two cards may be the ends of a relation of the type: both active, of the types that it connects, and not
 * the same card. An end is undefined if there is no such card.
 * @throws EstateError naming `source_id` and `target_id`.
 */
export function requireFittingEnds(
  type: RelationType,
  source: RelationEnd | undefined,
  target: RelationEnd | undefined,
): { source: RelationEnd; target: RelationEnd } {
  const errors: FieldError[] = [];
  const check = (field: string, end: RelationEnd | undefined, expected: string) => {
    if (!end) errors.push({ field, code: 'unknown_card', message: 'is no card' });
    else if (end.type !== expected) {
      errors.push({ field, code: 'end_type', message: `must be a card of the type ${expected}` });
    } else if (end.status !== 'ACTIVE') {
      errors.push({ field, code: 'end_archived', message: 'is archived' });
    }
  };
  check('source_id', source, type.source_type_key);
  check('target_id', target, type.target_type_key);
  if (errors.length === 0 && source!.id === target!.id) {
    errors.push({ field: 'target_id', code: 'same_card', message: 'is the same card as source_id' });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return { source: source!, target: target! };
}

/** All errors of the values of a relation. @param stored the relation that they change. */
export function validateRelationInput(
  type: RelationType,
  input: RelationInput,
  stored?: Pick<StoredRelation, 'attributes' | 'sums'>,
): FieldError[] {
  const errors = input.attributes ? checkAttributes(type.fields, input.attributes) : [];
  for (const key of stored && input.attributes ? summedKeys(type, stored) : []) {
    const sent = ownValue(input.attributes!, key);
    if (sent !== undefined && !sameValue(sent, ownValue(stored!.attributes, key)))
      errors.push(summedError(key));
  }
  const text = input.description && checkText('description', input.description, MAX_DESCRIPTION);
  return text ? [...errors, text] : errors;
}

/** The relation merged with valid input; `keep` names the attributes that a cleared `attributes` retains. */
export function withInput(
  relation: StoredRelation,
  input: RelationInput,
  keep: readonly string[] = [],
): StoredRelation {
  return {
    ...relation,
    attributes: mergeAttributes(relation.attributes, input.attributes, keep),
    description: input.description === undefined ? relation.description : input.description || null,
  };
}

/**
 * The differences: `description`, `attributes.<key>`, and a changed end; without `before` all values that are set,
 * without `after` all that were set.
 */
export function diffRelation(before: StoredRelation | null, after: StoredRelation | null): Changes {
  const changes: Changes = {};
  if (before && after) {
    for (const end of ['source_id', 'target_id'] as const) {
      if (before[end] !== after[end]) changes[end] = { old: before[end], new: after[end] };
    }
  }
  const old = before?.description ?? null;
  const next = after?.description ?? null;
  if (old !== next) changes.description = { old, new: next };
  diffKeys(changes, 'attributes.', before?.attributes ?? {}, after?.attributes ?? {});
  return changes;
}

/** The error for a second relation of the type between the same cards. */
export function duplicateRelation(existingId: string | null): EstateError {
  return new EstateError('duplicate_relation', 'These cards have a relation of this type already.', {
    extra: { existing_id: existingId },
  });
}

/** The sides on which a card may have only one relation of the type: 1:n means one source for each target. */
export function limitedSides(type: RelationType): ('source' | 'target')[] {
  if (type.cardinality === 'n:m') return [];
  return type.cardinality === '1:n' ? ['target'] : ['target', 'source'];
}

/** The error for a relation that exceeds the type's cardinality; `side` is the end that already has one. */
export function cardinalityExceeded(
  type: RelationType,
  side: 'source' | 'target',
  existingId: string,
): EstateError {
  return new EstateError(
    'cardinality_exceeded',
    `The ${side} card has a relation of the type ${type.key} already, which is ${type.cardinality}.`,
    { extra: { existing_id: existingId } },
  );
}
