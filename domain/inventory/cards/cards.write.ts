import { EstateError, invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { noteAttributes } from '../../kernel/metamodel/deprecations.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { may, requireOnCard, requirePermission, seesCosts } from '../../kernel/permissions/policy.ts';
import {
  loadCards,
  lockCards,
  lockHierarchy,
  requireCard,
  type StoredCard,
  typeOf,
  writtenCard,
} from './cards.load.ts';
import { refuseHiddenCosts } from './cards.projection.ts';
import { summedKeys } from './cards.rows.ts';
import {
  type CardWrite,
  insertCards,
  levelWrites,
  newIds,
  noFilledSlots,
  saveCards,
  withDerivedValues,
} from './cards.save.ts';
import { hierarchyTooDeep, levelsAfter, MAX_DEPTH, requireParent } from './cards.tree.ts';
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
import type { CardInput, CardValues } from './rules/diff.ts';
import { newCardValues, patchedValues } from './rules/merge.ts';
import { dataQuality, noFacts } from './rules/quality.ts';
import {
  checkLifecycleOrder,
  cleanCardInput,
  inputError,
  presentInput,
  refuseOperations,
  validateCardInput,
} from './rules/values.ts';

interface NewCard extends CardInput {
  type: string;
  name: string;
  status?: unknown;
  approval_status?: unknown;
}

/**
 * Creates a card: active, DRAFT, with its data quality, and with its level if the type has levels.
 * @throws EstateError `forbidden`, `use_operation`, `validation_failed`, `capability_too_deep`,
 * `sibling_name_taken`, `external_id_taken`.
 */
export async function createCard(ctx: Ctx, input: NewCard): Promise<{ id: string; text: JsonText }> {
  return await command(ctx, async (work) => {
    const id = await createCardWithin(work, ctx, input);
    return { id, text: await writtenCard(work.sql, ctx, id) };
  });
}

/** {@link createCard} within another command. @returns the card's id. */
export async function createCardWithin(work: Work, ctx: Ctx, input: NewCard): Promise<string> {
  requirePermission(ctx.caller, 'inventory.create');
  refuseOperations(input);
  const clean = { ...presentInput(work.metamodel, input.type, cleanCardInput(input)), type: input.type };
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
  const errors = validateCardInput(metamodel, input.type, input, { creating: true });
  const type = metamodel.cardTypes.get(input.type);
  if (!type || errors.length > 0) throw invalidFields(errors);
  refuseHiddenCosts(type.costKeys, input.attributes, may(ctx.caller, 'costs.view'));
  noteAttributes(ctx, metamodel, { kind: 'card', type: type.key }, input.attributes);
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
    number: null,
    type: type.key,
    ...values,
    status: 'ACTIVE',
    approval_status: 'DRAFT',
    data_quality: dataQuality(type, values, noFacts),
    archived_at: null,
    archive_batch_id: null,
    myRoles: [],
    filled: noFilledSlots,
  };
}

export interface CardPatch extends CardInput {
  status?: unknown;
  approval_status?: unknown;
}

/** The right needed for every change of a card's content, including a move caused by archiving another card. */
export const EDIT = { app: 'inventory.edit', card: 'card.edit' } as const;

/**
 * Changes the members in the patch; attributes and lifecycle merge key by key, null clears. Nothing is written if
 * nothing changes. Approval, level, data quality and the levels of descendant capabilities are updated.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `use_operation`, `validation_failed`,
 * `parent_cycle`, `capability_too_deep`, `sibling_name_taken`, `external_id_taken`.
 */
export async function patchCard(
  ctx: Ctx,
  id: string,
  patch: CardPatch,
): Promise<{ text: JsonText; isRenamed: boolean }> {
  return await command(ctx, async (work) => {
    const { before, after } = await patchCardWithin(work, ctx, id, patch);
    return { text: await writtenCard(work.sql, ctx, id), isRenamed: before.name !== after.name };
  });
}

/** {@link patchCard} within another command. */
export async function patchCardWithin(
  work: Work,
  ctx: Ctx,
  id: string,
  patch: CardPatch,
): Promise<CardWrite> {
  const { writes } = await planPatch(work, ctx, [id], patch, async (cards) => {
    const card = requireCard(cards, id);
    requireOnCard(ctx, EDIT, card);
    if (ctx.ifMatch) checkIfMatch(ctx, await writtenCard(work.sql, ctx, card.id));
  });
  await saveCards(work, ctx, writes);
  return writes[0]!;
}

/** Whether a patch may change the hierarchy or levels. */
export const movesCards = (input: CardInput): boolean =>
  input.parent_id !== undefined || (input.attributes != null && LEVEL_FIELD in input.attributes);

/**
 * Plans one patch for locked cards. Cards that do not exist are omitted.
 * @param authorise checks the rights on the cards; called with the cards before and after they are locked.
 * @returns the cards, and the writes: those of the cards, and those of levels that change below them.
 * @throws EstateError as {@link patchCard}, naming the card if there are several.
 */
export async function planPatch(
  work: Work,
  ctx: Ctx,
  ids: string[],
  patch: CardPatch,
  authorise: (cards: Map<string, StoredCard>) => Promise<void>,
): Promise<{ cards: Map<string, StoredCard>; writes: CardWrite[] }> {
  const input = cleanCardInput(patch);
  const levels = movesCards(input) ? await planLevels(work, ctx, ids, input, authorise) : null;
  await lockCards(work, new Set([...ids, ...(levels?.keys() ?? [])]));
  const cards = await loadCards(work, ctx, ids);
  await authorise(cards);
  refuseOperations(patch);
  const writes = [...cards.values()].map((card) => {
    try {
      return patchedCard(work, ctx, card, input, levels);
    } catch (error) {
      throw error instanceof EstateError && ids.length > 1 ? ofCard(error, card) : error;
    }
  });
  if (levels) {
    const below = new Map([...levels].filter(([id]) => !cards.has(id)));
    writes.push(...levelWrites(work, await loadCards(work, ctx, below.keys()), below));
  }
  return { cards, writes };
}

/** Checks the new places of cards, under the exclusive hierarchy lock. @returns the levels that change. */
async function planLevels(
  work: Work,
  ctx: Ctx,
  ids: string[],
  input: CardInput,
  authorise: (cards: Map<string, StoredCard>) => Promise<void>,
): Promise<Map<string, string>> {
  await lockHierarchy(work.sql, 'exclusive');
  const cards = await loadCards(work, ctx, ids);
  await authorise(cards);
  const { parent_id, attributes } = input;
  const found = [...cards.values()];
  const moved = parent_id === undefined ? [] : found.filter((card) => card.parent_id !== parent_id);
  for (const type of new Set(moved.map((card) => typeOf(work.metamodel, card)))) {
    await requireParent(work, ctx, type, parent_id!);
  }
  const leveled = attributes != null && LEVEL_FIELD in attributes;
  const isMacro = attributes?.[LEVEL_FIELD] === MACRO;
  return await levelsAfter(work, {
    moved: new Map(parent_id === undefined ? [] : found.map(({ id }) => [id, parent_id])),
    macros: new Map(leveled ? found.map(({ id }) => [id, isMacro]) : []),
  });
}

/**
 * The write of one card. `levels` are those that result from the patch, null if none can change.
 * @throws EstateError `forbidden`, `validation_failed`.
 */
export function patchedCard(
  work: Work,
  ctx: Ctx,
  before: StoredCard,
  sent: CardInput,
  levels: ReadonlyMap<string, string> | null,
): CardWrite {
  const type = typeOf(work.metamodel, before);
  noteAttributes(ctx, work.metamodel, { kind: 'card', type: type.key }, sent.attributes);
  const input = presentInput(work.metamodel, type.key, sent);
  refuseHiddenCosts(type.costKeys, input.attributes, seesCosts(ctx, before));
  const checks = { stored: before.attributes, summed: summedKeys(type, before) };
  const errors = validateCardInput(work.metamodel, type.key, input, checks);
  const after = { ...before, ...patchedValues(before, input, retainedKeys(ctx, type, before)) };
  if (errors.length === 0) errors.push(...checkLifecycleOrder(after.lifecycle));
  if (levels && hasLevels(type)) {
    const level = levels.get(before.id) ?? before.attributes[LEVEL_FIELD];
    // A Macro remains one until its level is changed, so it cannot be moved below another card.
    const { [LEVEL_FIELD]: sent } = { ...input.attributes };
    const expected = sent === undefined && before.attributes[LEVEL_FIELD] === MACRO ? MACRO : sent;
    errors.push(...checkLevel(expected, String(level)));
    after.attributes = { ...after.attributes, [LEVEL_FIELD]: level };
  }
  if (errors.length > 0) throw inputError(errors);
  return { before, after: withDerivedValues(type, before, after) };
}

/** The error with the card that it concerns. */
function ofCard({ code, message, errors, extra }: EstateError, { id, type }: StoredCard): EstateError {
  const options = { ...(errors ? { errors } : {}), extra: { ...extra, card_id: id, card_type: type } };
  return new EstateError(code, message, options);
}

/** Attributes that a patch cannot clear: costs that the caller does not see, and values that the service sets. */
export function retainedKeys(ctx: Ctx, type: CardType, card: StoredCard): string[] {
  const readonly = [...type.fields.values()].filter((field) => field.readonly).map((field) => field.key);
  readonly.push(...summedKeys(type, card));
  return seesCosts(ctx, card) ? readonly : [...readonly, ...type.costKeys];
}
