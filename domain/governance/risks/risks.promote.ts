import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireReader } from '../compliance/compliance.access.ts';
import type { FindingRow } from '../compliance/compliance.model.ts';
import { store } from '../compliance/findings.commands.ts';
import { findingEvent } from '../compliance/findings.events.ts';
import { type LoadedFinding, lockFinding } from '../compliance/findings.load.ts';
import { addRisks } from './risks.add.ts';
import type { RiskInput } from './risks.commands.ts';
import { riskText } from './risks.list.ts';
import { checkOwner, checkTitle } from './risks.load.ts';
import type { RiskRow } from './risks.model.ts';
import { withReferences } from './risks.references.ts';
import { estimateOf } from './risks.rules.ts';
import { addTask } from './tasks.add.ts';

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
      const risk = await makeRisk(work, ctx, found, await checked(work, input));
      const after = await store(work, found.row, {
        risk_id: risk.id,
        decision: 'risk_tracked',
        reviewed_by: ctx.caller.userId,
        reviewed_at: new Date().toISOString(),
      });
      work.emit(findingEvent(found.card, found.row, after));
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
    description: descriptionOf(row),
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

const descriptionOf = ({ requirement, gap_description }: FindingRow): string =>
  [requirement, gap_description].filter((part) => part.trim() !== '').join('\n\n');

/** The given values, without null members. */
async function checked(work: Work, input: Promotion): Promise<Partial<RiskRow>> {
  const faults: FieldError[] = [];
  const said = Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== undefined && value !== null),
  ) as Partial<RiskRow>;
  if (said.title !== undefined) said.title = checkTitle(said.title, faults);
  if (typeof said.owner_id === 'string') {
    said.owner_id = said.owner_id.toLowerCase();
    await checkOwner(work, said.owner_id, faults);
  }
  if (faults.length > 0) throw invalidFields(faults);
  return said;
}
