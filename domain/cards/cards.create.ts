import { invalidFields } from '../../platform/errors.ts';
import { may, requirePermission } from '../access/policy.ts';
import { command, type Work } from '../command.ts';
import type { Ctx } from '../context.ts';
import type { JsonText } from '../lists/lists.types.ts';
import { refuseHiddenCosts } from './cards.costs.ts';
import { cardEvent, cardsTopic } from './cards.events.ts';
import { lockHierarchy, writtenCard } from './cards.load.ts';
import { type ParentPlace, placeBelow, requireParent } from './cards.tree.ts';
import { guardUnique } from './cards.unique.ts';
import { checkLevel, hasLevels, LEVEL_FIELD, levelAt, MACRO, maxDepth, tooDeep } from './rules/capability.ts';
import type { CardInput, CardState } from './rules/card.types.ts';
import { diffCard } from './rules/diff.ts';
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
  if (hasLevels(type)) {
    const sent = clean.attributes?.[LEVEL_FIELD];
    const { depth, underMacro } = found.place;
    const place = { depth, underMacro: depth === 1 ? sent === MACRO : underMacro };
    if (depth > maxDepth(place.underMacro)) throw tooDeep(place.underMacro);
    const wrong = checkLevel(sent, place);
    if (wrong.length > 0) throw invalidFields(wrong);
    values.attributes = { ...values.attributes, [LEVEL_FIELD]: levelAt(place) };
  }
  return await insert(work, ctx, {
    id: '',
    type: type.key,
    ...values,
    status: 'ACTIVE',
    approval_status: 'DRAFT',
    data_quality: dataQuality(type, values, noFacts),
    archived_at: null,
  });
}

async function insert(work: Work, ctx: Ctx, card: CardState): Promise<string> {
  const { id: _, archived_at: __, ...columns } = card;
  const [row] = await guardUnique(work.sql, [{ ...card, id: null }], (sql) =>
    sql('cards')
      .insert({
        ...columns,
        lifecycle: card.lifecycle && JSON.stringify(card.lifecycle),
        attributes: JSON.stringify(card.attributes),
        created_by: ctx.caller.userId,
        updated_by: ctx.caller.userId,
      })
      .returning('id'),
  );
  const stored = { ...card, id: row.id as string };
  const type = work.metamodel.cardTypes.get(card.type)!;
  work.emit(cardEvent('card.created', type, stored, diffCard(null, stored)));
  work.raise(cardsTopic(type.key));
  return stored.id;
}
