import { queryRows } from '../../../platform/database.ts';
import { openNewSystemTodos } from '../../collaboration/todos/todos.system.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { riskCardEvent, riskEvent } from './risks.events.ts';
import type { RiskCardRow, RiskRow } from './risks.model.ts';
import { ownerTodo } from './risks.owner.ts';
import { nextReferences } from './risks.references.ts';
import { isSettled } from './risks.rules.ts';
import { RISKS_TOPIC } from './risks.topics.ts';
import type { CardRole, LinkedCard } from './risks.types.ts';

/** A risk to be inserted; absent columns get their defaults. */
export interface RiskDraft {
  values: Partial<RiskRow> & { title: string };
  cards: readonly LinkedCard[];
}

/**
 * Inserts risks with their links to cards and the to-dos of their owners, in a fixed number of statements. The cards must be
 * locked.
 * @returns the rows, in the order of the drafts.
 */
export async function addRisks(work: Work, ctx: Ctx, drafts: readonly RiskDraft[]): Promise<RiskRow[]> {
  if (drafts.length === 0) return [];
  const references = await nextReferences(work, 'R', drafts.length);
  const rows = await queryRows<{ row: RiskRow }>(
    work.sql,
    `insert into risks as t (reference, title, description, category, source_type, source_ref, initial_probability,
       initial_impact, residual_probability, residual_impact, owner_id, target_resolution_date, status,
       acceptance_rationale, accepted_by, accepted_at, created_by)
     select v.reference, v.title, coalesce(v.description, ''), coalesce(v.category, 'operational'),
       coalesce(v.source_type, 'manual'), v.source_ref, coalesce(v.initial_probability, 'medium'),
       coalesce(v.initial_impact, 'medium'), v.residual_probability, v.residual_impact, v.owner_id,
       v.target_resolution_date, coalesce(v.status, 'identified'), v.acceptance_rationale, v.accepted_by, v.accepted_at,
       v.created_by
     from jsonb_populate_recordset(null::risks, ?::jsonb) v order by v.reference
     returning to_jsonb(t) as row`,
    [
      JSON.stringify(
        drafts.map(({ values }, n) => ({
          ...values,
          reference: references[n],
          created_by: ctx.caller.userId,
        })),
      ),
    ],
  );
  const byReference = new Map(rows.map(({ row }) => [row.reference, row]));
  const risks = references.map((reference) => byReference.get(reference)!);
  for (const risk of risks) work.emit(riskEvent(null, risk));
  work.raise(RISKS_TOPIC);
  await addLinks(
    work,
    risks.flatMap((risk, n) => drafts[n]!.cards.map((card) => ({ risk, card }))),
    'affected',
  );
  await openNewSystemTodos(
    work,
    risks.filter(({ owner_id, status }) => owner_id !== null && !isSettled(status)).map(ownerTodo),
  );
  return risks;
}

/** Links risks to cards with which they are not yet linked. */
export async function addLinks(
  work: Work,
  links: readonly { risk: RiskRow; card: LinkedCard }[],
  role: CardRole,
): Promise<void> {
  if (links.length === 0) return;
  const rows = await queryRows<{ row: RiskCardRow }>(
    work.sql,
    `insert into risk_cards as t (risk_id, card_id, role)
     select v.risk_id, v.card_id, ? from jsonb_to_recordset(?::jsonb) as v(risk_id uuid, card_id uuid)
     returning to_jsonb(t) as row`,
    [role, JSON.stringify(links.map(({ risk, card }) => ({ risk_id: risk.id, card_id: card.id })))],
  );
  const risks = new Map(links.map(({ risk }) => [risk.id, risk]));
  const cards = new Map(links.map(({ card }) => [card.id, card]));
  for (const { row } of rows) {
    work.emit(riskCardEvent(cards.get(row.card_id)!, risks.get(row.risk_id)!, null, row));
  }
}
