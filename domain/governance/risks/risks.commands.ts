import { EstateError, type FieldError, invalidFields } from '../../../platform/errors.ts';
import { closeSystemTodos } from '../../collaboration/todos/todos.system.ts';
import { RISK_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, updateRow } from '../../kernel/resources/rows.ts';
import { addRisks } from './risks.add.ts';
import { removeAllLinks } from './risks.cards.ts';
import { riskEvent } from './risks.events.ts';
import { followRisk, freeFindings } from './risks.findings.ts';
import { riskText } from './risks.list.ts';
import { checkOwner, checkTitle, type LoadedRisk, lockLinkable, lockRisk } from './risks.load.ts';
import { Risk, type RiskRow } from './risks.model.ts';
import { settleOwner } from './risks.owner.ts';
import { withReferences } from './risks.references.ts';
import { nextStatuses } from './risks.rules.ts';
import { RISKS_TOPIC } from './risks.topics.ts';
import { removeTasks, settleTasks } from './tasks.remove.ts';

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
      const faults: FieldError[] = [];
      const values = await checked(work, input, undefined, faults);
      const cards = await lockLinkable(work, ctx, card_ids ?? [], faults);
      if (faults.length > 0) throw invalidFields(faults);
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
    const risk = await lockRisk(work, id);
    const before = risk.row;
    if (ctx.ifMatch) checkIfMatch(ctx, await riskText(work.sql, ctx, before.id));
    const faults: FieldError[] = [];
    const values = await checked(work, input, before, faults);
    const asked = differing(before, values);
    refuseIllegal(before, asked);
    if (faults.length > 0) throw invalidFields(faults);
    if (Object.keys(asked).length > 0) {
      await store(work, ctx, risk, { ...asked, ...acceptance(ctx, before, asked) });
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
    const { row, cardIds } = await lockRisk(work, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await riskText(work.sql, ctx, row.id));
    await removeTasks(work, { risk_id: row.id }, cardIds);
    await removeAllLinks(work, row);
    await freeFindings(work, ctx, row);
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
  await settleOwner(work, before, after);
  if (after.status === before.status) return;
  await settleTasks(work, before, after);
  await followRisk(work, ctx, after);
}

/** @throws EstateError `wrong_state` for a change of a closed risk, and for a transition that is not allowed. */
function refuseIllegal({ status }: RiskRow, asked: Partial<RiskRow>): void {
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
  if (status === 'accepted') {
    return { accepted_by: ctx.caller.userId, accepted_at: new Date().toISOString() };
  }
  if (status === undefined || before.status !== 'accepted') return {};
  return { acceptance_rationale: null, accepted_by: null, accepted_at: null };
}

/** The input as it is stored. @param faults receives validation errors. */
async function checked(
  work: Work,
  input: RiskInput,
  before: RiskRow | undefined,
  faults: FieldError[],
): Promise<Partial<RiskRow>> {
  const { description, ...values } = input;
  if (values.title !== undefined) values.title = checkTitle(values.title, faults);
  if (typeof values.owner_id === 'string') {
    values.owner_id = values.owner_id.toLowerCase();
    if (values.owner_id !== before?.owner_id) await checkOwner(work, values.owner_id, faults);
  }
  const rationale =
    values.acceptance_rationale === undefined ? before?.acceptance_rationale : values.acceptance_rationale;
  if ((values.status ?? before?.status) === 'accepted' && !rationale?.trim()) {
    const message = 'must say why the risk is accepted';
    faults.push({ field: 'acceptance_rationale', code: 'required', message });
  }
  return description === undefined ? values : { ...values, description: description ?? '' };
}
