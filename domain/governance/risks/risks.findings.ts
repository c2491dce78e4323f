import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { Finding, type FindingRow } from '../compliance/compliance.model.ts';
import {
  findingEvent,
  findingText,
  type LoadedFinding,
  lockFinding,
  requireReader,
} from '../compliance/findings.list.ts';
import { MAX_CARDS } from './risks.cards.ts';
import { RISKS_TOPIC, Risk, type RiskRow } from './risks.model.ts';
import { followedDecision } from './risks.rules.ts';
import { addLinks, requireOpen } from './risks.store.ts';

/**
 * Lets a risk track a finding: the finding then follows the risk, which is linked to the finding's card.
 * @returns the finding.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed` for an unknown risk,
 * `wrong_state` for a closed risk or a finding that another risk tracks, `conflict` for too many cards.
 */
export async function linkFinding(ctx: Ctx, findingId: string, riskId: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.manage');
  requireReader(ctx);
  return await command(ctx, async (work) => {
    // locked in the order of all commands: cards, risks, findings
    await lockCards(
      work,
      await work.sql('compliance_findings').where({ id: findingId }).whereNotNull('card_id').pluck('card_id'),
      'share',
    );
    const risk = await lockRow(work.sql, Risk, { id: riskId });
    const found = await lockKnown(work, ctx, findingId);
    const { row, risk_reference: reference } = found;
    if (!risk) throw invalidField('risk_id', 'unknown_risk', 'is no risk');
    if (row.risk_id !== null && row.risk_id !== risk.id) {
      throw new EstateError('wrong_state', `The risk ${reference} tracks this finding.`, {
        extra: { risk_id: row.risk_id, risk_reference: reference },
      });
    }
    if (row.risk_id === null) {
      requireOpen(risk);
      await addCard(work, found, risk);
      await trackFinding(work, ctx, found, risk);
    }
    return await findingText(work.sql, ctx, row.id);
  });
}

/**
 * Stops the tracking of a finding by its risk; the finding returns to review.
 * @returns the finding.
 * @throws EstateError `forbidden`, `not_found`, also for a finding without a risk; `precondition_failed`.
 */
export async function unlinkFinding(ctx: Ctx, findingId: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.manage');
  requireReader(ctx);
  return await command(ctx, async (work) => {
    const found = await lockKnown(work, ctx, findingId);
    if (found.row.risk_id === null) throw notFound('risk of the compliance finding', findingId);
    await decide(work, ctx, found, { risk_id: null, decision: 'in_review' });
    return await findingText(work.sql, ctx, found.row.id);
  });
}

/** Makes a finding follow a risk. */
export async function trackFinding(work: Work, ctx: Ctx, found: LoadedFinding, risk: RiskRow): Promise<void> {
  const decision = followedDecision(risk.status);
  // an accepted finding needs a note
  const review_note = found.row.review_note?.trim() ? found.row.review_note : risk.acceptance_rationale;
  await decide(work, ctx, found, {
    risk_id: risk.id,
    decision,
    ...(decision === 'accepted' && { review_note }),
  });
}

async function decide(
  work: Work,
  ctx: Ctx,
  { row, card }: LoadedFinding,
  values: Partial<FindingRow>,
): Promise<void> {
  const review = { reviewed_by: ctx.caller.userId, reviewed_at: new Date().toISOString() };
  const after = await updateRow(work.sql, Finding, { id: row.id }, { ...values, ...review });
  work.emit(findingEvent(card, row, after));
}

async function lockKnown(work: Work, ctx: Ctx, id: string): Promise<LoadedFinding> {
  const found = await lockFinding(work, ctx, id);
  if (ctx.ifMatch) checkIfMatch(ctx, await findingText(work.sql, ctx, found.row.id));
  return found;
}

/** Links the card of a finding to its risk, unless it is linked. */
async function addCard(work: Work, { card }: LoadedFinding, risk: RiskRow): Promise<void> {
  if (!card) return;
  const linked: string[] = await work.sql('risk_cards').where({ risk_id: risk.id }).pluck('card_id');
  if (linked.includes(card.id)) return;
  if (linked.length >= MAX_CARDS) {
    throw new EstateError('conflict', `A risk is linked to ${MAX_CARDS} cards at most.`);
  }
  await addLinks(work, [{ risk, card }], 'affected');
  work.raise(RISKS_TOPIC);
}
