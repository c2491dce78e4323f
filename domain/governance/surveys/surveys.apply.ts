import { queryRows } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { refuseHiddenCosts } from '../../inventory/cards/cards.costs.ts';
import { loadCards, lockCards, type StoredCard, typeOf } from '../../inventory/cards/cards.load.ts';
import { EDIT } from '../../inventory/cards/cards.patch.ts';
import { summedKeys } from '../../inventory/cards/cards.rows.ts';
import { saveCards, settled } from '../../inventory/cards/cards.save.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { requireOnCards, requirePermission, seesCosts } from '../../kernel/permissions/policy.ts';
import { responseEvent } from './surveys.events.ts';
import type { ResponseRow } from './surveys.model.ts';
import { applyAnswer } from './surveys.rules.ts';

/** A response that was not applied. */
interface NotApplied {
  response_id: string;
  /** Null for an unknown response. */
  card_id: string | null;
  code: string;
  message: string;
  /** The keys of the fields that were in the way. */
  fields: string[];
}

export interface ApplyReport {
  dry_run: boolean;
  /** How many were applied, or would be. */
  applied: number;
  errors: NotApplied[];
}

/**
 * Writes answers into their cards by the rules of a bulk change, each answer whole or not at all; of two that give one
 * field different values the first counts. What was confirmed changes nothing. Answers that cannot be applied are
 * reported, and the others applied.
 * @throws EstateError `forbidden` where one of the cards may not be edited or a cost not be seen; `not_found`.
 */
export async function applyResponses(
  ctx: Ctx,
  id: string,
  responseIds: string[],
  dryRun: boolean,
): Promise<ApplyReport> {
  requirePermission(ctx.caller, 'surveys.manage');
  return await command(
    ctx,
    async (work) => {
      const { sql } = work;
      const { rows } = await sql.raw('select from surveys where id = ?::uuid for share', [id]);
      if (rows.length === 0) throw notFound('survey', id);
      const wanted = [...new Set(responseIds.map((given) => given.toLowerCase()))];
      const asked: string[] = await sql('survey_responses')
        .where({ survey_id: id })
        .whereIn('id', wanted)
        .pluck('card_id');
      await lockCards(work, new Set(asked));
      const responses = await lockResponses(work, id, wanted, asked);
      const cards = await loadCards(
        work,
        ctx,
        new Set([...responses.values()].map(({ card_id }) => card_id)),
      );
      requireOnCards(ctx, EDIT, cards.values());
      const report: ApplyReport = { dry_run: dryRun, applied: 0, errors: [] };
      const after = new Map(cards);
      const applied: ResponseRow[] = [];
      for (const response_id of wanted) {
        const response = responses.get(response_id);
        const refused = attempt(work, ctx, response, after);
        if (refused) report.errors.push({ response_id, card_id: response?.card_id ?? null, ...refused });
        else applied.push(response!);
      }
      await saveCards(
        work,
        ctx,
        [...cards.values()]
          .map((before) => ({ before, after: after.get(before.id)! }))
          .filter((write) => write.before !== write.after)
          .map((write) => ({
            before: write.before,
            after: settled(typeOf(work.metamodel, write.before), write.before, write.after),
          })),
      );
      await markApplied(work, applied, cards);
      report.applied = applied.length;
      return report;
    },
    { dryRun },
  );
}

/** The responses on locked cards; one that a merge has just moved to another card is left out. */
async function lockResponses(
  work: Work,
  id: string,
  ids: string[],
  cardIds: string[],
): Promise<Map<string, ResponseRow>> {
  const rows = await queryRows<{ row: ResponseRow }>(
    work.sql,
    `select to_jsonb(r) as row from survey_responses r where r.survey_id = ?::uuid and r.id = any(?::uuid[])
       and r.card_id = any(?::uuid[])
     order by r.id for no key update`,
    [id, ids, cardIds],
  );
  return new Map(rows.map(({ row }) => [row.id, row]));
}

type Refused = Omit<NotApplied, 'response_id' | 'card_id'>;

/** Applies one answer to the card as the previous answers have changed it. @returns why it was refused. */
function attempt(
  work: Work,
  ctx: Ctx,
  response: ResponseRow | undefined,
  cards: Map<string, StoredCard>,
): Refused | undefined {
  const refused = (code: string, message: string): Refused => ({ code, message, fields: [] });
  if (!response) return refused('not_found', 'The survey has no such response.');
  if (response.status !== 'completed') return refused('not_completed', 'It has not been answered.');
  if (response.applied) return refused('already_applied', 'It has been applied already.');
  const card = cards.get(response.card_id);
  if (!card) return refused('card_hidden', 'Cards of this type are hidden.');
  if (card.status !== 'ACTIVE') return refused('card_archived', 'The card is archived.');
  const type = typeOf(work.metamodel, card);
  refuseHiddenCosts([...type.costKeys, ...response.cost_keys], response.responses, seesCosts(ctx, card));
  const summed = summedKeys(type, card).filter((key) => response.responses[key]?.confirmed === false);
  if (summed.length > 0) {
    const message = 'The value is the sum of the lines of the initiative.';
    return { code: 'value_does_not_fit', message, fields: summed };
  }
  const outcome = applyAnswer(work.metamodel, type, card.attributes, response.responses);
  if ('code' in outcome) return outcome;
  cards.set(card.id, { ...card, attributes: outcome.attributes });
  return undefined;
}

async function markApplied(
  work: Work,
  applied: ResponseRow[],
  cards: ReadonlyMap<string, StoredCard>,
): Promise<void> {
  if (applied.length === 0) return;
  const rows = await queryRows<{ row: ResponseRow }>(
    work.sql,
    `update survey_responses r set applied = true, applied_at = clock_timestamp(), updated_at = clock_timestamp()
     where r.id = any(?::uuid[]) returning to_jsonb(r) as row`,
    [applied.map(({ id }) => id)],
  );
  const after = new Map(rows.map(({ row }) => [row.id, row]));
  for (const before of applied) {
    work.emit(responseEvent(cards.get(before.card_id)!, before, after.get(before.id)!));
  }
}
