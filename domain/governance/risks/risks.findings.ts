import { queryRows } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { FindingRow } from '../compliance/compliance.model.ts';
import type { Decision } from '../compliance/compliance.types.ts';
import { findingEvent } from '../compliance/findings.events.ts';
import type { RiskRow } from './risks.model.ts';
import { followedDecision } from './risks.rules.ts';

/** Updates the decisions about the findings of a risk after a change of its status. */
export async function followRisk(work: Work, ctx: Ctx, risk: RiskRow): Promise<void> {
  await decideTracked(work, ctx, risk, followedDecision(risk.status), true);
}

/** Returns the findings of a risk that is about to be deleted to review. */
export async function freeFindings(work: Work, ctx: Ctx, risk: RiskRow): Promise<void> {
  await decideTracked(work, ctx, risk, 'in_review', false);
}

async function decideTracked(
  work: Work,
  ctx: Ctx,
  risk: RiskRow,
  decision: Decision,
  isKept: boolean,
): Promise<void> {
  // an accepted finding needs a note
  const note = decision === 'accepted' ? risk.acceptance_rationale : null;
  const decided = await queryRows<Decided>(
    work.sql,
    `with tracked as (
       select f.id, to_jsonb(f) as before from compliance_findings f where f.risk_id = ?::uuid
         and (f.decision <> ? or not ?::boolean)
       order by f.id for no key update
     ), decided as (
       update compliance_findings f set decision = ?, risk_id = case when ?::boolean then f.risk_id end,
         review_note = case when trim(coalesce(f.review_note, '')) = '' then coalesce(?, f.review_note) else f.review_note end,
         reviewed_by = ?::uuid, reviewed_at = clock_timestamp(), updated_at = clock_timestamp()
       from tracked where f.id = tracked.id returning f.id, to_jsonb(f) as after, tracked.before
     )
     select before, after, c.id, c.type from decided left join cards c on c.id = (after ->> 'card_id')::uuid
     order by decided.id`,
    [risk.id, decision, isKept, decision, isKept, note, ctx.caller.userId],
  );
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
