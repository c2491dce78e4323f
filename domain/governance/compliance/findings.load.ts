import { embed, query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowEvent } from '../../kernel/events/row-changes.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { FindingRow } from './compliance.model.ts';

/** @throws EstateError `forbidden`. */
export function requireReader(ctx: Ctx): void {
  requirePermission(ctx.caller, 'compliance.view');
  requirePermission(ctx.caller, 'grc.view');
}

/** @throws EstateError `forbidden`. */
export function requireMaintainer(ctx: Ctx): void {
  requirePermission(ctx.caller, 'compliance.manage');
  requirePermission(ctx.caller, 'grc.manage');
}

/**
 * The findings that are visible to the caller, over the aliases `f` of `compliance_findings` and `c` of the joined
 * card, if any: those about the landscape, and those on visible cards.
 */
export function visibleFindings(ctx: Ctx): Condition {
  const { sql, bindings } = visibleCards(ctx);
  return { sql: `(f.card_id is null or (${sql}))`, bindings, visibility: true };
}

/** Findings that no scan has resolved and that are on no archived card, over the same aliases. */
export const unresolved: Condition = {
  sql: `not f.auto_resolved and coalesce(c.status, 'ACTIVE') = 'ACTIVE'`,
  bindings: [],
};

/** The event of one written finding, in the history of its card where it has one. */
export function findingEvent(
  card: { id: string; type: string } | null,
  before: FindingRow | null,
  after: FindingRow | null,
): EventDraft {
  const { id, regulation, regulation_article } = (after ?? before)!;
  return {
    ...rowEvent('compliance_finding', before, after, { id, regulation, regulation_article }),
    ...(card && { card_id: card.id, card_type: card.type }),
  };
}

/** A finding with the card in whose history it shows. */
export interface LoadedFinding {
  row: FindingRow;
  card: { id: string; type: string } | null;
  /** Of the risk to which it was promoted. */
  risk_reference: string | null;
}

/** Locks the visible findings, and their cards for sharing; other findings are omitted. */
export async function lockFindings(
  work: Work,
  ctx: Ctx,
  ids: readonly string[],
): Promise<Map<string, LoadedFinding>> {
  const wanted = [...new Set(ids.map((id) => id.toLowerCase()))];
  const cards: string[] = await work
    .sql('compliance_findings')
    .whereIn('id', wanted)
    .whereNotNull('card_id')
    .pluck('card_id');
  // cards are locked before the rows that refer to them, to avoid deadlocks
  await lockCards(work, [...new Set(cards)], 'share');
  const visible = visibleFindings(ctx);
  const found = await query(work.sql).rows<LoadedFinding>`select to_jsonb(f) as row,
       case when c.id is null then null else json_build_object('id', c.id, 'type', c.type) end as card,
       (select r.reference from risks r where r.id = f.risk_id) as risk_reference
     from compliance_findings f left join cards c on c.id = f.card_id
     where f.id = any(${wanted}::uuid[]) and ${embed(visible)}
       and (f.card_id is null or f.card_id = any(${cards}::uuid[]))
     order by f.id for no key update of f`;
  return new Map(found.map((finding) => [finding.row.id, finding]));
}

/** One finding, locked. @throws EstateError `not_found`. */
export async function lockFinding(work: Work, ctx: Ctx, id: string): Promise<LoadedFinding> {
  const found = (await lockFindings(work, ctx, [id])).get(id.toLowerCase());
  if (!found) throw notFound('compliance finding', id);
  return found;
}
