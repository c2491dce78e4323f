import { invalidField } from '../../../platform/errors.ts';
import { type CardListNeeds, listCards } from '../../inventory/cards/cards.list.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText, ListParams } from '../../kernel/lists/lists.types.ts';

/** What can be asked of the lists to choose from, with what an item tells. */
export const pickers = {
  Objective: ['id', 'name', 'description', 'subtype'],
  BusinessCapability: ['id', 'name', 'description'],
} as const;

/**
 * The active cards of a type that a session can be about, searched as cards are.
 * @throws EstateError naming each parameter that is not valid.
 */
export async function pickCards(
  ctx: Ctx,
  type: keyof typeof pickers,
  params: ListParams,
  needs: CardListNeeds,
): Promise<JsonText> {
  const fields = params.fields ?? pickers[type].join(',');
  const members: readonly string[] = pickers[type];
  const unknown = fields.split(',').find((name) => !members.includes(name.trim()));
  if (unknown !== undefined) {
    throw invalidField('fields', 'unknown_field', `"${unknown}" is no member of the items`);
  }
  // a workspace that has hidden the type has none to choose from
  if (!ctx.metamodel.visibleTypes.includes(type)) return noCards(params);
  return await listCards(ctx, { ...params, type, fields }, needs);
}

function noCards({ cursor, page, page_size }: ListParams): JsonText {
  const end = cursor === undefined ? { total: 0, page, page_size } : { page_size, next_cursor: null };
  return JSON.stringify({ items: [], ...end });
}
