import { EstateError, type FieldError, invalidFields } from '../../../platform/errors.ts';
import { loadCards, lockCards } from '../../inventory/cards/cards.load.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { deleteRows, insertRow, updateRow } from '../../kernel/resources/rows.ts';
import { requireMaintainer } from './compliance.access.ts';
import { Finding, type FindingContent, type FindingRow } from './compliance.model.ts';
import { findingEvent } from './findings.events.ts';
import { findingText } from './findings.list.ts';
import { type LoadedFinding, lockFinding } from './findings.load.ts';

/** Creates a finding. @throws EstateError `forbidden`, `validation_failed`. */
export async function createFinding(ctx: Ctx, input: Partial<FindingContent>): Promise<JsonText> {
  requireMaintainer(ctx);
  return await command(ctx, async (work) => {
    const { values, card } = await checked(work, ctx, input);
    const row = await insertRow(work.sql, Finding, values);
    work.emit(findingEvent(card, null, row));
    return await findingText(work.sql, ctx, row.id);
  });
}

/**
 * Changes the content of a finding. Scans do not overwrite edited columns, but resolve the finding when they no longer
 * find it.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`, `validation_failed`.
 */
export async function patchFinding(ctx: Ctx, id: string, input: Partial<FindingContent>): Promise<JsonText> {
  requireMaintainer(ctx);
  return await command(ctx, async (work) => {
    const found = await lockFinding(work, ctx, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await findingText(work.sql, ctx, found.row.id));
    const before = found.row;
    const { values, card } = await checked(work, ctx, input, found);
    const changed = differing(before, values);
    const columns = Object.keys(changed);
    if (
      before.rule_key !== null &&
      columns.some((column) => column === 'regulation' || column === 'card_id')
    ) {
      throw new EstateError(
        'wrong_state',
        'A rule found this for its card and its regulation; create another finding instead.',
      );
    }
    if (columns.length === 0) return await findingText(work.sql, ctx, before.id);
    const edited = before.rule_key === null ? [] : [...new Set([...before.edited, ...columns])].sort();
    const after = await store(work, before, { ...changed, edited });
    work.emit(findingEvent(card, before, after));
    return await findingText(work.sql, ctx, before.id);
  });
}

/**
 * Deletes a finding. The next scan creates it again if its rule still applies.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state` when a risk tracks it.
 */
export async function deleteFinding(ctx: Ctx, id: string): Promise<void> {
  requireMaintainer(ctx);
  await command(ctx, async (work) => {
    const found = await lockFinding(work, ctx, id);
    const { row, card } = found;
    if (ctx.ifMatch) checkIfMatch(ctx, await findingText(work.sql, ctx, row.id));
    if (row.decision === 'risk_tracked') throw new EstateError('wrong_state', ...trackedBy(found));
    await deleteRows(work.sql, Finding, (query) => query.where({ id: row.id }));
    work.emit(findingEvent(card, row, null));
  });
}

/** The refusal for a finding that was promoted to a risk. */
export function trackedBy({ row, risk_reference }: LoadedFinding): [message: string, more: object] {
  const message = `${risk_reference ? `The risk ${risk_reference}` : 'A risk'} tracks this finding, whose decision follows the risk.`;
  return [message, { extra: { decision: row.decision, allowed: [], risk_id: row.risk_id, risk_reference } }];
}

/** Writes columns of a finding. @returns the whole row. */
export async function store(
  work: Work,
  { id }: { id: string },
  values: Partial<FindingRow>,
): Promise<FindingRow> {
  return await updateRow(work.sql, Finding, { id }, values);
}

/** The checked input as it is stored, and the card that the finding then has. */
async function checked(
  work: Work,
  ctx: Ctx,
  input: Partial<FindingContent>,
  before?: LoadedFinding,
): Promise<{ values: Partial<FindingContent>; card: LoadedFinding['card'] }> {
  const faults: FieldError[] = [];
  if (input.requirement?.trim() === '') {
    faults.push({ field: 'requirement', code: 'required', message: 'must not be blank' });
  }
  const named = input.regulation;
  if (named !== undefined && named !== before?.row.regulation) {
    if (!(await work.sql('compliance_regulations').where({ key: named }).first('key'))) {
      const message = `there is no regulation "${named}"`;
      faults.push({ field: 'regulation', code: 'unknown_regulation', message });
    }
  }
  let card = before?.card ?? null;
  const values = { ...input };
  if (typeof input.card_id === 'string') {
    values.card_id = input.card_id.toLowerCase();
    if (values.card_id !== card?.id) {
      await lockCards(work, [values.card_id], 'share');
      card = (await loadCards(work, ctx, [values.card_id])).get(values.card_id) ?? null;
      if (!card) faults.push({ field: 'card_id', code: 'unknown_card', message: 'is not a card' });
    }
  } else if (input.card_id === null) card = null;
  if (faults.length > 0) throw invalidFields(faults);
  return { values, card: card && { id: card.id, type: card.type } };
}
