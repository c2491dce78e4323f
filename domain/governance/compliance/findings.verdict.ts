import { EstateError } from '../../../platform/errors.ts';
import { patchCardWithin } from '../../inventory/cards/cards.patch.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireMaintainer } from './compliance.access.ts';
import { findingText } from './findings.list.ts';

/** The attribute that says whether a card uses artificial intelligence. */
const AI_FIELD = 'hasAiFeatures';

/**
 * Says of a finding's card whether it uses artificial intelligence, as a change of the card by hand does. The finding
 * itself follows with the next scan.
 * @throws EstateError `forbidden`, also where the card may not be edited; `not_found`; `wrong_state` where the finding
 * is about no card, or cards of its type do not say so.
 */
export async function giveVerdict(ctx: Ctx, id: string, verdict: 'confirm' | 'deny'): Promise<JsonText> {
  requireMaintainer(ctx);
  // what an If-Match names is the finding, not the card
  const onCard: Ctx = { ...ctx, ifMatch: undefined };
  return await command(ctx, async (work) => {
    const text = await findingText(work.sql, ctx, id);
    checkIfMatch(ctx, text);
    const { card_id, card_type } = JSON.parse(text);
    if (card_id === null) throw new EstateError('wrong_state', 'The finding is about no card.');
    if (!work.metamodel.cardTypes.get(card_type)?.fields.has(AI_FIELD)) {
      throw new EstateError('wrong_state', `Cards of the type ${card_type} do not say whether they use AI.`);
    }
    await patchCardWithin(work, onCard, card_id, { attributes: { [AI_FIELD]: verdict === 'confirm' } });
    return await findingText(work.sql, ctx, id);
  });
}
