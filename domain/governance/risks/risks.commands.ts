import { query } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields } from '../../../platform/errors.ts';
import { lockLinkedCards } from '../../collaboration/cards.access.ts';
import { closeSystemTodos } from '../../collaboration/todos/todos.system.ts';
import { RISK_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, updateRow } from '../../kernel/resources/rows.ts';
import type { Decision, FindingRow } from '../compliance/compliance.model.ts';
import { findingEvent, type LoadedFinding, lockFinding, requireReader } from '../compliance/findings.list.ts';
import { removeLinks } from './risks.cards.ts';
import { trackFinding } from './risks.findings.ts';
import { riskText } from './risks.list.ts';
import { RISKS_TOPIC, Risk, type RiskRow } from './risks.model.ts';
import { estimateOf, followedDecision, nextStatuses } from './risks.rules.ts';
import {
  addRisks,
  checkTitleAndOwner,
  type LoadedRisk,
  lockRisk,
  riskEvent,
  updateOwnerTodo,
  withReferences,
} from './risks.store.ts';
import { addTask, removeTasks, updateTaskTodos } from './tasks.store.ts';

/** Decides about the findings that a risk tracks. @param tracks whether the risk still tracks them afterwards. */
async function decideTracked(
  work: Work,
  ctx: Ctx,
  risk: RiskRow,
  decision: Decision,
  tracks: boolean,
): Promise<void> {
  // an accepted finding needs a note
  const note = decision === 'accepted' ? risk.acceptance_rationale : null;
  const decided = await query(work.sql).rows<Decided>`with tracked as (
       select f.id, to_jsonb(f) as before from compliance_findings f where f.risk_id = ${risk.id}::uuid
         and (f.decision <> ${decision} or not ${tracks}::boolean)
       order by f.id for no key update
     ), decided as (
       update compliance_findings f
       set decision = ${decision}, risk_id = case when ${tracks}::boolean then f.risk_id end,
         review_note = case when trim(coalesce(f.review_note, '')) = '' then coalesce(${note},
         f.review_note) else f.review_note end,
         reviewed_by = ${ctx.caller.userId}::uuid, reviewed_at = clock_timestamp(),
         updated_at = clock_timestamp()
       from tracked where f.id = tracked.id returning f.id, to_jsonb(f) as after, tracked.before
     )
     select before, after, c.id, c.type from decided left join cards c on c.id = (after ->> 'card_id')::uuid
     order by decided.id`;
  for (const { before, after, id, type } of decided) {
    work.emit(findingEvent(id === null ? null : { id, type: type! }, before, after));
  }
}

interface Decided {
  before: FindingRow;
  after: FindingRow;
  id: string | null;
  type: string | null;
}

/** What a person may write of a risk. */
export type RiskInput = Partial<
  Pick<
    RiskRow,
    | 'title'
    | 'category'
    | 'initial_probability'
    | 'initial_impact'
    | 'residual_probability'
    | 'residual_impact'
    | 'owner_id'
    | 'target_resolution_date'
    | 'status'
    | 'acceptance_rationale'
  >
> & { description?: string | null };

/** Creates a risk. @throws EstateError `forbidden`, `validation_failed`. */
export async function createRisk(
  ctx: Ctx,
  { card_ids, ...input }: RiskInput & { title: string; card_ids?: string[] },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.manage');
  return await withReferences(() =>
    command(ctx, async (work) => {
      const errors: FieldError[] = [];
      const values = await checked(work, input, null, errors);
      const cards = await lockLinkedCards(work, ctx, card_ids ?? [], errors);
      if (errors.length > 0) throw invalidFields(errors);
      const [risk] = await addRisks(work, ctx, [{ values: { ...values, title: values.title! }, cards }]);
      return await riskText(work.sql, ctx, risk!.id);
    }),
  );
}

/**
 * Changes a risk, the to-do of its owner and the findings that it tracks. A closed risk can only be reopened.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `wrong_state`.
 */
export async function patchRisk(ctx: Ctx, id: string, input: RiskInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.manage');
  return await command(ctx, async (work) => {
    const risk = await lockRisk(work, ctx, id);
    const before = risk.row;
    const errors: FieldError[] = [];
    const changed = differingMembers(before, await checked(work, input, before, errors));
    requireTransition(before, changed);
    if (errors.length > 0) throw invalidFields(errors);
    if (Object.keys(changed).length > 0) {
      await store(work, ctx, risk, { ...changed, ...acceptance(ctx, before, changed) });
    }
    return await riskText(work.sql, ctx, before.id);
  });
}

/**
 * Deletes a risk with its tasks and links. The findings that it tracked return to review.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`.
 */
export async function deleteRisk(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'risks.manage');
  await command(ctx, async (work) => {
    const { row, cardIds } = await lockRisk(work, ctx, id);
    await removeTasks(work, { risk_id: row.id }, cardIds);
    await removeLinks(work, row);
    await decideTracked(work, ctx, row, 'in_review', false);
    await closeSystemTodos(work, { topic: RISK_TOPIC, subjectId: row.id }, 'withdrawn');
    await deleteRows(work.sql, Risk, (query) => query.where({ id: row.id }));
    // the events of the links already show in the histories of the cards
    work.emit(riskEvent(row, null));
    work.raise(RISKS_TOPIC);
  });
}

async function store(
  work: Work,
  ctx: Ctx,
  { row: before, cardIds }: LoadedRisk,
  values: Partial<RiskRow>,
): Promise<void> {
  const after = await updateRow(work.sql, Risk, { id: before.id }, values);
  work.emit(riskEvent(before, after, cardIds));
  work.raise(RISKS_TOPIC);
  await updateOwnerTodo(work, before, after);
  if (after.status === before.status) return;
  await updateTaskTodos(work, before, after);
  await decideTracked(work, ctx, after, followedDecision(after.status), true);
}

/** @throws EstateError `wrong_state` for a change of a closed risk, and for a transition that is not allowed. */
function requireTransition({ status }: RiskRow, asked: Partial<RiskRow>): void {
  const allowed = nextStatuses(status);
  const extra = { risk_status: status, allowed };
  if (asked.status !== undefined && !allowed.includes(asked.status)) {
    throw new EstateError('wrong_state', `A risk that is ${status} cannot become ${asked.status}.`, {
      extra,
    });
  }
  if (status === 'closed' && Object.keys(asked).some((column) => column !== 'status')) {
    throw new EstateError('wrong_state', 'The risk is closed: it can be opened again, and nothing else.', {
      extra,
    });
  }
}

/** The columns that follow from accepting a risk, and from another status afterwards. */
function acceptance(ctx: Ctx, before: RiskRow, { status }: Partial<RiskRow>): Partial<RiskRow> {
  if (status === 'accepted') return { accepted_by: ctx.caller.userId, accepted_at: new Date().toISOString() };
  if (status === undefined || before.status !== 'accepted') return {};
  return { acceptance_rationale: null, accepted_by: null, accepted_at: null };
}

/** The input as it is stored. @param errors receives validation errors. */
async function checked(
  work: Work,
  { description, ...values }: RiskInput,
  before: RiskRow | null,
  errors: FieldError[],
): Promise<Partial<RiskRow>> {
  await checkTitleAndOwner(work, values, before, errors);
  const rationale =
    values.acceptance_rationale === undefined ? before?.acceptance_rationale : values.acceptance_rationale;
  if ((values.status ?? before?.status) === 'accepted' && !rationale?.trim()) {
    const message = 'must say why the risk is accepted';
    errors.push({ field: 'acceptance_rationale', code: 'required', message });
  }
  return description === undefined ? values : { ...values, description: description ?? '' };
}

/** Values that replace those derived from the finding. */
export type Promotion = Pick<
  RiskInput,
  | 'title'
  | 'description'
  | 'category'
  | 'initial_probability'
  | 'initial_impact'
  | 'owner_id'
  | 'target_resolution_date'
>;

const TITLE = 500;
const cut = (text: string): string =>
  text.length > TITLE ? `${text.slice(0, TITLE - 1).toWellFormed()}…` : text;

/**
 * Creates a risk from a finding, linked to its card and with one task for the remediation. The finding then follows the risk.
 * For a finding that already has a risk nothing is written.
 * @returns the risk, and whether it is new.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`.
 */
export async function promoteFinding(
  ctx: Ctx,
  findingId: string,
  input: Promotion,
): Promise<{ text: JsonText; isNew: boolean }> {
  requirePermission(ctx.caller, 'risks.manage');
  requireReader(ctx);
  return await withReferences(() =>
    command(ctx, async (work) => {
      const found = await lockFinding(work, ctx, findingId);
      const known = found.row.risk_id;
      if (known !== null && (await work.sql('risks').where({ id: known }).first('id'))) {
        return { text: await riskText(work.sql, ctx, known), isNew: false };
      }
      const risk = await makeRisk(work, ctx, found, await promotedValues(work, input));
      await trackFinding(work, ctx, found, risk);
      return { text: await riskText(work.sql, ctx, risk.id), isNew: true };
    }),
  );
}

async function makeRisk(
  work: Work,
  ctx: Ctx,
  { row, card }: LoadedFinding,
  asked: Partial<RiskRow>,
): Promise<RiskRow> {
  const article = row.regulation_article ?? row.regulation;
  const named = card ? await work.sql('cards').where({ id: card.id }).first('name') : undefined;
  const values: Partial<RiskRow> & { title: string } = {
    title: cut(`${article}: ${named?.name ?? row.requirement}`),
    description: [row.requirement, row.gap_description].filter((part) => part.trim() !== '').join('\n\n'),
    category: 'compliance',
    ...estimateOf(row),
    ...asked,
    source_type: 'compliance',
    source_ref: row.regulation,
  };
  const [risk] = await addRisks(work, ctx, [{ values, cards: card ? [card] : [] }]);
  const task = { title: cut(`Remediate: ${article}`), description: row.remediation, owner_id: null };
  await addTask(work, ctx, { row: risk!, cardIds: card ? [card.id] : [] }, task);
  return risk!;
}

/** The given values, without null members. */
async function promotedValues(work: Work, input: Promotion): Promise<Partial<RiskRow>> {
  const errors: FieldError[] = [];
  const given: Partial<RiskRow> = Object.fromEntries(
    Object.entries(input).filter(([, value]) => value != null),
  );
  await checkTitleAndOwner(work, given, null, errors);
  if (errors.length > 0) throw invalidFields(errors);
  return given;
}
