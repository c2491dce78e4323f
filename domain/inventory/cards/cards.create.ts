import { invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { refuseHiddenCosts } from './cards.costs.ts';
import { insertCards, newIds, nothingFilled } from './cards.insert.ts';
import { lockHierarchy, type StoredCard, writtenCard } from './cards.load.ts';
import { type ParentPlace, placeBelow, requireParent } from './cards.tree.ts';
import { guardUnique } from './cards.unique.ts';
import {
  checkLevel,
  hasLevels,
  LEVEL_FIELD,
  levelAt,
  MACRO,
  maxDepth,
  type Place,
  tooDeep,
} from './rules/capability.ts';
import type { CardInput, CardValues } from './rules/card.types.ts';
import { cleanCardInput, refuseOperations, validateCardInput } from './rules/input.ts';
import { newCardValues } from './rules/merge.ts';
import { dataQuality, noFacts } from './rules/quality.ts';

export interface NewCard extends CardInput {
  type: string;
  name: string;
  status?: unknown;
  approval_status?: unknown;
}

export interface WrittenCard {
  id: string;
  text: JsonText;
}

/**
 * Creates a card: active, DRAFT, with its data quality, and its level where the type has levels.
 * @throws EstateError `forbidden`, `use_operation`, `validation_failed`, `capability_too_deep`,
 * `sibling_name_taken`, `external_id_taken`.
 */
export async function createCard(ctx: Ctx, input: NewCard): Promise<WrittenCard> {
  return await command(ctx, async (work) => {
    const id = await createCardWithin(work, ctx, input);
    return { id, text: await writtenCard(work.sql, ctx, id) };
  });
}

/** {@link createCard} as a part of a greater command. @returns the card's id. */
export async function createCardWithin(work: Work, ctx: Ctx, input: NewCard): Promise<string> {
  requirePermission(ctx.caller, 'inventory.create');
  refuseOperations(input);
  const { metamodel } = work;
  const clean = cleanCardInput(input);
  const faults = validateCardInput(metamodel, input.type, clean, { creating: true });
  const type = metamodel.cardTypes.get(input.type);
  if (!type || faults.length > 0) throw invalidFields(faults);
  refuseHiddenCosts(type.costKeys, clean.attributes, may(ctx.caller, 'costs.view'));

  const values = newCardValues(clean);
  let found: ParentPlace = await placeBelow(work.sql, null);
  if (values.parent_id !== null) {
    await lockHierarchy(work.sql, 'shared');
    found = await requireParent(work, ctx, type, values.parent_id, null);
  }
  takeLevel(type, values, clean.attributes?.[LEVEL_FIELD], found.place);
  const [id] = await newIds(work, 1);
  const card = newCard(type, id!, values);
  await guardUnique(work.sql, [card], (sql) => insertCards({ ...work, sql }, ctx, [card]));
  return card.id;
}

/**
 * Gives the values of a new card the level of its place; other types have none.
 * @throws EstateError `capability_too_deep`, `validation_failed`.
 */
export function takeLevel(
  type: CardType,
  values: CardValues,
  sent: unknown,
  { depth, underMacro }: Place,
): void {
  if (!hasLevels(type)) return;
  const place = { depth, underMacro: depth === 1 ? sent === MACRO : underMacro };
  if (depth > maxDepth(place.underMacro)) throw tooDeep(place.underMacro);
  const wrong = checkLevel(sent, place);
  if (wrong.length > 0) throw invalidFields(wrong);
  values.attributes = { ...values.attributes, [LEVEL_FIELD]: levelAt(place) };
}

/** A new card as it is stored: active, DRAFT, with its data quality. */
export function newCard(type: CardType, id: string, values: CardValues): StoredCard {
  return {
    id,
    type: type.key,
    ...values,
    status: 'ACTIVE',
    approval_status: 'DRAFT',
    data_quality: dataQuality(type, values, noFacts),
    archived_at: null,
    archive_batch_id: null,
    myRoles: [],
    filled: nothingFilled,
  };
}
