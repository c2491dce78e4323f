import { unlessTaken } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { noteAttributes, presentAttributes } from '../../kernel/metamodel/deprecations.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { forbidden, mayOnCard, seesCosts } from '../../kernel/permissions/policy.ts';
import { refuseHiddenCosts } from '../cards/cards.projection.ts';
import { inputError } from '../cards/rules/values.ts';
import type { RelationEnd, RelationInput, StoredRelation } from './relations.model.ts';
import { duplicateRelation, validateRelationInput } from './relations.rules.ts';

export const MANAGE = { app: 'relations.manage', card: 'card.manage_relations' } as const;

/**
 * Checks the right to write relations between two cards: `relations.manage`, or a stakeholder role on either of them
 * that allows it.
 * @throws EstateError `forbidden`.
 */
export function requireManage(ctx: Ctx, source: RelationEnd, target: RelationEnd): void {
  if (!mayOnCard(ctx, MANAGE, source) && !mayOnCard(ctx, MANAGE, target)) throw forbidden(MANAGE.app);
}

/** Whether the caller sees a relation's costs: by permission, or by a stakeholder role on either card. */
export function seesRelationCosts(ctx: Ctx, source: RelationEnd, target: RelationEnd): boolean {
  return seesCosts(ctx, source) || seesCosts(ctx, target);
}

/**
 * Checks the given values of a relation between two cards.
 * @returns them with the present keys of options.
 * @throws EstateError `forbidden` for costs that the caller may not see, `validation_failed`, `costs_by_period`.
 */
export function checkRelationInput(
  { metamodel }: Pick<Work, 'metamodel'>,
  ctx: Ctx,
  { type, source, target }: { type: RelationType; source: RelationEnd; target: RelationEnd },
  input: RelationInput,
  stored?: StoredRelation,
): RelationInput {
  refuseHiddenCosts(type.costKeys, input.attributes, seesRelationCosts(ctx, source, target));
  noteAttributes(ctx, metamodel, { kind: 'relation', type: type.key }, input.attributes);
  const of = { kind: 'relation', type: type.key } as const;
  const present = { ...input, attributes: presentAttributes(metamodel, of, input.attributes) };
  if (input.attributes === undefined) delete present.attributes;
  const errors = validateRelationInput(type, present, stored);
  if (errors.length > 0) throw inputError(errors);
  return present;
}

/** Converts a unique violation, if a writer has not locked the ends, to `duplicate_relation`. */
export const guardDuplicates = <T>(write: () => Promise<T>): Promise<T> =>
  unlessTaken(write(), () => duplicateRelation(null), 'relations_ends');
