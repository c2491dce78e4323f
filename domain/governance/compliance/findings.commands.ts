import Type, { type Static } from 'typebox';
import { query } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';
import { lockReferredCard } from '../../inventory/cards/cards.load.ts';
import { patchCardWithin } from '../../inventory/cards/cards.write.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { deleteRows, insertRow, updateRow } from '../../kernel/resources/rows.ts';
import { Choice, component, object, Uuid } from '../../kernel/shapes.ts';
import { type Decision, Finding, type FindingContent, type FindingRow } from './compliance.model.ts';
import { needsNote, nextDecisions } from './decisions.rules.ts';
import {
  findingEvent,
  findingText,
  type LoadedFinding,
  lockFinding,
  lockFindings,
  requireMaintainer,
} from './findings.list.ts';

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
    const found = await locked(work, ctx, id);
    const before = found.row;
    const { values, card } = await checked(work, ctx, input, found);
    const changed = differingMembers(before, values);
    const columns = Object.keys(changed);
    if (
      before.rule_key !== null &&
      columns.some((column) => column === 'regulation' || column === 'card_id')
    ) {
      const detail = 'A rule found this for its card and its regulation; create another finding instead.';
      throw new EstateError('wrong_state', detail);
    }
    if (columns.length === 0) return await findingText(work.sql, ctx, before.id);
    const edited = before.rule_key === null ? [] : [...new Set([...before.edited, ...columns])].sort();
    const after = await updateRow(work.sql, Finding, { id: before.id }, { ...changed, edited });
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
    const found = await locked(work, ctx, id);
    const { row, card } = found;
    if (row.decision === 'risk_tracked') throw new EstateError('wrong_state', ...trackedBy(found));
    await deleteRows(work.sql, Finding, (query) => query.where({ id: row.id }));
    work.emit(findingEvent(card, row, null));
  });
}

/** A finding of which the caller knows the present state. @throws EstateError `not_found`, `precondition_failed`. */
async function locked(work: Work, ctx: Ctx, id: string): Promise<LoadedFinding> {
  const found = await lockFinding(work, ctx, id);
  if (ctx.ifMatch) checkIfMatch(ctx, await findingText(work.sql, ctx, found.row.id));
  return found;
}

/** The error for a finding that was promoted to a risk. */
function trackedBy({ row, risk_reference }: LoadedFinding): [message: string, more: object] {
  const message = `${risk_reference ? `The risk ${risk_reference}` : 'A risk'} tracks this finding, whose decision follows the risk.`;
  return [message, { extra: { decision: row.decision, allowed: [], risk_id: row.risk_id, risk_reference } }];
}

/** The checked input as it is stored, and the card that the finding then has. */
async function checked(
  work: Work,
  ctx: Ctx,
  input: Partial<FindingContent>,
  before?: LoadedFinding,
): Promise<{ values: Partial<FindingContent>; card: LoadedFinding['card'] }> {
  const errors: FieldError[] = [];
  if (input.requirement?.trim() === '') {
    errors.push({ field: 'requirement', code: 'required', message: 'must not be blank' });
  }
  const named = input.regulation;
  if (named !== undefined && named !== before?.row.regulation) {
    if (!(await work.sql('compliance_regulations').where({ key: named }).first('key'))) {
      const message = `there is no regulation "${named}"`;
      errors.push({ field: 'regulation', code: 'unknown_regulation', message });
    }
  }
  let card = before?.card ?? null;
  const values = { ...input };
  if (typeof input.card_id === 'string') {
    values.card_id = input.card_id.toLowerCase();
    if (values.card_id !== card?.id) {
      card = (await lockReferredCard(work, ctx, values.card_id)) ?? null;
      if (!card) errors.push({ field: 'card_id', code: 'unknown_card', message: 'is not a card' });
    }
  } else if (input.card_id === null) card = null;
  if (errors.length > 0) throw invalidFields(errors);
  return { values, card: card && { id: card.id, type: card.type } };
}

export interface DecisionInput {
  decision: Decision;
  /** Absent: the note is not changed. */
  review_note?: string | null;
}

export const BulkResultSchema = component('ComplianceBulkResult', {
  updated: Type.Integer({ minimum: 0, description: 'Number of changed or deleted findings' }),
  skipped: Type.Array(
    object({ id: Uuid, code: Choice(['not_found', 'wrong_state']), message: Type.String() }),
  ),
});
type BulkResult = Static<typeof BulkResultSchema>;

/** @throws EstateError `validation_failed` for a decision without the note that it needs. */
function requireNote({ decision, review_note }: DecisionInput): void {
  if (!needsNote(decision) || review_note?.trim()) return;
  throw invalidField('review_note', 'required', `must say why the finding is ${decision}`);
}

const illegal = (found: LoadedFinding, to: Decision): string =>
  found.row.decision === 'risk_tracked'
    ? trackedBy(found)[0]
    : `A finding that is ${found.row.decision} cannot become ${to}.`;

/**
 * Decides about a finding.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `wrong_state` for a decision
 * that the present one does not allow.
 */
export async function decideFinding(ctx: Ctx, id: string, input: DecisionInput): Promise<JsonText> {
  requireMaintainer(ctx);
  requireNote(input);
  return await command(ctx, async (work) => {
    const found = await locked(work, ctx, id);
    const { decision } = found.row;
    if (decision === 'risk_tracked') throw new EstateError('wrong_state', ...trackedBy(found));
    const allowed = nextDecisions('person', decision);
    if (!allowed.includes(input.decision)) {
      throw new EstateError('wrong_state', illegal(found, input.decision), { extra: { decision, allowed } });
    }
    await decide(work, ctx, [found], input);
    return await findingText(work.sql, ctx, found.row.id);
  });
}

async function decide(
  work: Work,
  ctx: Ctx,
  findings: readonly LoadedFinding[],
  { decision, review_note }: DecisionInput,
): Promise<void> {
  const updated = await query(work.sql).column<FindingRow>`update compliance_findings f
    set decision = ${decision},
      review_note = case when ${review_note !== undefined}::boolean then ${review_note ?? null} else f.review_note end,
      reviewed_by = ${ctx.caller.userId}::uuid, reviewed_at = clock_timestamp(),
      updated_at = clock_timestamp()
    where f.id = any(${findings.map(({ row }) => row.id)}::uuid[]) returning to_jsonb(f) as row`;
  const after = new Map(updated.map((row) => [row.id, row]));
  for (const { row, card } of findings) work.emit(findingEvent(card, row, after.get(row.id)!));
}

/**
 * Writes many findings, each once; unknown ones, and those that are refused, are skipped.
 * @param refusal why a finding is not written.
 */
async function inBulk(
  ctx: Ctx,
  ids: readonly string[],
  refusal: (found: LoadedFinding) => string | undefined,
  write: (work: Work, taken: LoadedFinding[]) => Promise<void>,
): Promise<BulkResult> {
  return await command(ctx, async (work) => {
    const found = await lockFindings(work, ctx, ids);
    const skipped: BulkResult['skipped'] = [];
    const taken = [...new Set(ids.map((id) => id.toLowerCase()))].flatMap((id) => {
      const finding = found.get(id);
      const message = finding && refusal(finding);
      if (finding && !message) return [finding];
      skipped.push(
        message
          ? { id, code: 'wrong_state', message }
          : { id, code: 'not_found', message: 'There is no such finding.' },
      );
      return [];
    });
    await write(work, taken);
    return { updated: taken.length, skipped };
  });
}

/** Decides about many findings; those whose present decision does not allow it are skipped. @throws EstateError as for one. */
export async function decideFindings(ctx: Ctx, ids: string[], input: DecisionInput): Promise<BulkResult> {
  requireMaintainer(ctx);
  requireNote(input);
  const refusal = (found: LoadedFinding) =>
    nextDecisions('person', found.row.decision).includes(input.decision)
      ? undefined
      : illegal(found, input.decision);
  return await inBulk(ctx, ids, refusal, (work, taken) => decide(work, ctx, taken, input));
}

/** Deletes many findings; those that a risk tracks are skipped. @throws EstateError `forbidden`. */
export async function deleteFindings(ctx: Ctx, ids: string[]): Promise<BulkResult> {
  requireMaintainer(ctx);
  const refusal = (found: LoadedFinding) =>
    found.row.decision === 'risk_tracked' ? trackedBy(found)[0] : undefined;
  return await inBulk(ctx, ids, refusal, async (work, taken) => {
    const deleted = taken.map(({ row }) => row.id);
    await deleteRows(work.sql, Finding, (query) => query.whereIn('id', deleted));
    for (const { row, card } of taken) work.emit(findingEvent(card, row, null));
  });
}

/** The attribute that states whether a card uses artificial intelligence. */
const AI_FIELD = 'hasAiFeatures';

/**
 * Says of a finding's card whether it uses artificial intelligence, as a change of the card by hand does. The finding
 * itself follows with the next scan.
 * @throws EstateError `forbidden`, also if the card may not be edited; `not_found`; `wrong_state` if the finding has no
 * card, or cards of its type do not have the attribute.
 */
export async function decideAiUse(ctx: Ctx, id: string, verdict: 'confirm' | 'deny'): Promise<JsonText> {
  requireMaintainer(ctx);
  // An If-Match refers to the finding, not to the card.
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
