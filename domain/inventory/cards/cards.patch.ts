import { invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { requireOnCard, seesCosts } from '../../kernel/permissions/policy.ts';
import { refuseHiddenCosts } from './cards.costs.ts';
import {
  loadCards,
  lockCards,
  lockHierarchy,
  requireCard,
  type StoredCard,
  typeOf,
  writtenCard,
} from './cards.load.ts';
import { levelWrites, saveCards, settled } from './cards.save.ts';
import { summedKeys } from './cards.sums.ts';
import {
  descendantsOf,
  levelsBelow,
  type ParentPlace,
  placeBelow,
  requireParent,
  type TreeCard,
} from './cards.tree.ts';
import { checkLevel, hasLevels, LEVEL_FIELD, levelAt, MACRO, maxDepth, tooDeep } from './rules/capability.ts';
import type { CardInput } from './rules/card.types.ts';
import { cleanCardInput, refuseOperations, validateCardInput } from './rules/input.ts';
import { checkLifecycleOrder } from './rules/lifecycle.ts';
import { patchedValues } from './rules/merge.ts';

export interface CardPatch extends CardInput {
  status?: unknown;
  approval_status?: unknown;
}

/** Needed for every change of a card's content, also when another card's archiving moves it. */
export const EDIT = { app: 'inventory.edit', card: 'card.edit' } as const;

/**
 * Changes what the patch names; attributes and lifecycle merge key by key, null clears. A patch that changes
 * nothing writes nothing. Approval, level and data quality follow, and the levels of capabilities below.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `use_operation`, `validation_failed`,
 * `parent_cycle`, `capability_too_deep`, `sibling_name_taken`, `external_id_taken`.
 */
export async function patchCard(ctx: Ctx, id: string, patch: CardPatch): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await patchCardWithin(work, ctx, id, patch);
    return await writtenCard(work.sql, ctx, id);
  });
}

/** {@link patchCard} as a part of a greater command. */
export async function patchCardWithin(work: Work, ctx: Ctx, id: string, patch: CardPatch): Promise<void> {
  const input = cleanCardInput(patch);
  const leveled = input.attributes != null && LEVEL_FIELD in input.attributes;
  const moves = leveled || input.parent_id !== undefined;
  // what may change the tree is decided alone, and with every card locked whose level may follow
  if (moves) await lockHierarchy(work.sql, 'exclusive');
  const below = moves ? await leveledBelow(work, id) : [];
  await lockCards(work, [id, ...below.map((card) => card.id)]);
  const before = requireCard(await loadCards(work, ctx, [id]), id);
  const type = typeOf(work.metamodel, before);
  requireOnCard(ctx, EDIT, before);
  if (ctx.ifMatch) checkIfMatch(ctx, await writtenCard(work.sql, ctx, before.id));
  refuseOperations(patch);
  refuseHiddenCosts(type.costKeys, input.attributes, seesCosts(ctx, before));
  const checks = { stored: before.attributes, summed: summedKeys(type, before) };
  const faults = validateCardInput(work.metamodel, type.key, input, checks);
  const after: StoredCard = { ...before, ...patchedValues(before, input, keptKeys(ctx, type, before)) };
  if (faults.length === 0) faults.push(...checkLifecycleOrder(after.lifecycle));
  if (faults.length > 0) throw invalidFields(faults);

  const writes = [{ before, after }];
  if (moves) {
    const levels = await place(work, ctx, type, before, after, input, below);
    writes.push(...levelWrites(work, await loadCards(work, ctx, levels.keys()), levels));
  }
  writes[0]!.after = settled(type, before, after);
  await saveCards(work, ctx, writes);
}

/** The cards below a card whose levels follow from its place; none where the type has no levels. */
async function leveledBelow({ sql, metamodel }: Work, id: string): Promise<TreeCard[]> {
  const card = await sql('cards').where({ id }).first('type');
  const type = card && metamodel.cardTypes.get(card.type);
  return type && hasLevels(type) ? await descendantsOf(sql, [id]) : [];
}

/** What a patch cannot clear: costs that the caller does not see, and what the service sets. */
export function keptKeys(ctx: Ctx, type: CardType, card: StoredCard): string[] {
  const readonly = [...type.fields.values()].filter((field) => field.readonly).map((field) => field.key);
  readonly.push(...summedKeys(type, card));
  return seesCosts(ctx, card) ? readonly : [...readonly, ...type.costKeys];
}

/** Checks the card's new place, gives `after` its level and answers the levels that change below it. */
async function place(
  work: Work,
  ctx: Ctx,
  type: CardType,
  before: StoredCard,
  after: StoredCard,
  input: CardInput,
  below: TreeCard[],
): Promise<Map<string, string>> {
  const found: ParentPlace =
    after.parent_id === before.parent_id
      ? await placeBelow(work.sql, before.parent_id)
      : await requireParent(work, ctx, type, after.parent_id, before.id);
  if (!hasLevels(type)) return new Map();

  const sent = input.attributes?.[LEVEL_FIELD];
  const level = sent === undefined ? before.attributes[LEVEL_FIELD] : sent;
  const { depth, underMacro } = found.place;
  const here = { depth, underMacro: depth === 1 ? level === MACRO : underMacro };
  if (depth > maxDepth(here.underMacro)) throw tooDeep(here.underMacro);
  // a Macro remains one until its level is changed, so it cannot be moved below another card
  const wrong = checkLevel(level === MACRO ? level : sent, here);
  if (wrong.length > 0) throw invalidFields(wrong);
  after.attributes = { ...after.attributes, [LEVEL_FIELD]: levelAt(here) };
  return levelsBelow(here, below);
}
