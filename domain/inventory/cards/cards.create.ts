import { invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { refuseHiddenCosts } from './cards.costs.ts';
import { lockHierarchy, type StoredCard, writtenCard } from './cards.load.ts';
import { insertCards, newIds, nothingFilled } from './cards.save.ts';
import { hierarchyTooDeep, MAX_DEPTH, requireParent } from './cards.tree.ts';
import { guardUnique } from './cards.unique.ts';
import {
  capabilityTooDeep,
  checkLevel,
  hasLevels,
  LEVEL_FIELD,
  levelAt,
  MACRO,
  maxDepth,
  type Place,
} from './rules/capability.ts';
import type { CardInput, CardValues } from './rules/card.types.ts';
import { newCardValues } from './rules/merge.ts';
import { dataQuality, noFacts } from './rules/quality.ts';
import { cleanCardInput, refuseOperations, validateCardInput } from './rules/values.ts';

interface NewCard extends CardInput {
  type: string;
  name: string;
  status?: unknown;
  approval_status?: unknown;
}

interface WrittenCard {
  id: string;
  text: JsonText;
}

/**
 * Creates a card: active, DRAFT, with its data quality, and with its level if the type has levels.
 * @throws EstateError `forbidden`, `use_operation`, `validation_failed`, `capability_too_deep`,
 * `sibling_name_taken`, `external_id_taken`.
 */
export async function createCard(ctx: Ctx, input: NewCard): Promise<WrittenCard> {
  return await command(ctx, async (work) => {
    const id = await createCardWithin(work, ctx, input);
    return { id, text: await writtenCard(work.sql, ctx, id) };
  });
}

/** {@link createCard} within another command. @returns the card's id. */
export async function createCardWithin(work: Work, ctx: Ctx, input: NewCard): Promise<string> {
  requirePermission(ctx.caller, 'inventory.create');
  refuseOperations(input);
  const clean = { ...cleanCardInput(input), type: input.type };
  const type = requireCreatable(work, ctx, clean);
  const parentId = clean.parent_id ?? null;
  if (parentId !== null) await lockHierarchy(work.sql, 'shared');
  const place = await requireParent(work, ctx, type, parentId);
  const [id] = await newIds(work, 1);
  const card = newCard(type, id!, clean, parentId, place);
  await guardUnique(work.sql, [card], (sql) => insertCards({ ...work, sql }, ctx, [card]));
  return card.id;
}

/** The type of a card that can be created from cleaned input. @throws EstateError `validation_failed`, `forbidden`. */
export function requireCreatable(
  { metamodel }: Pick<Work, 'metamodel'>,
  ctx: Ctx,
  input: CardInput & { type: string },
): CardType {
  const faults = validateCardInput(metamodel, input.type, input, { creating: true });
  const type = metamodel.cardTypes.get(input.type);
  if (!type || faults.length > 0) throw invalidFields(faults);
  refuseHiddenCosts(type.costKeys, input.attributes, may(ctx.caller, 'costs.view'));
  return type;
}

/**
 * Sets the level of a new card from its place; for types without levels nothing changes.
 * @throws EstateError `capability_too_deep`, `validation_failed`.
 */
function takeLevel(type: CardType, values: CardValues, sent: unknown, { depth, underMacro }: Place): void {
  if (depth > MAX_DEPTH) throw hierarchyTooDeep();
  if (!hasLevels(type)) return;
  const place = { depth, underMacro: depth === 1 ? sent === MACRO : underMacro };
  if (depth > maxDepth(place.underMacro)) throw capabilityTooDeep(place.underMacro);
  const level = levelAt(place);
  const wrong = checkLevel(sent, level);
  if (wrong.length > 0) throw invalidFields(wrong);
  values.attributes = { ...values.attributes, [LEVEL_FIELD]: level };
}

/**
 * A new card as it is stored: active, DRAFT, with its data quality and the level of its place.
 * @throws EstateError `capability_too_deep`, `validation_failed`.
 */
export function newCard(
  type: CardType,
  id: string,
  input: CardInput,
  parent_id: string | null,
  place: Place,
): StoredCard {
  const values = { ...newCardValues(input), parent_id };
  takeLevel(type, values, input.attributes?.[LEVEL_FIELD], place);
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
