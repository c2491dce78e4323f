import Type from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import { invisibleCardError, visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { BooleanOf, Choice, FilledText, Flag, TextUpTo, Uuid } from '../../kernel/shapes.ts';
import { decisions, Finding, type FindingRow, findingStatuses, severities } from './compliance.model.ts';

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
export const unresolved: Condition = fragment`not f.auto_resolved
  and coalesce(c.status, 'ACTIVE') = 'ACTIVE'`;

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
  const found = await query(work.sql).rows<LoadedFinding>`select to_jsonb(f) as row,
       case when c.id is null then null else json_build_object('id', c.id, 'type', c.type) end as card,
       (select r.reference from risks r where r.id = f.risk_id) as risk_reference
     from compliance_findings f left join cards c on c.id = f.card_id
     where f.id = any(${wanted}::uuid[]) and ${embed(visibleFindings(ctx))}
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

/** The `run_id` of findings that no scan has found. */
const NO_RUN = '00000000-0000-0000-0000-000000000000';

const scopeType = `case when f.card_id is null then 'landscape' else 'card' end`;

/** The filter by which lists also contain resolved findings. */
export const withResolved = Flag(
  'Also those that the last scan no longer found, and those on archived cards',
);

/** Unresolved findings on active cards, newest first; with `include_auto_resolved` all of them. */
export const findingList = defineList({
  name: 'compliance-findings',
  from: `compliance_findings f left join cards c on c.id = f.card_id left join users u on u.id = f.reviewed_by
    left join compliance_scanned s on s.regulation = f.regulation`,
  id: 'f.id',
  sorts: {
    // severity, ascending: the most severe first
    ...columnSorts('f', Finding, 'created_at', 'updated_at', 'regulation', 'status', 'decision', 'severity'),
    card_name: { sql: 'lower(c.name)', type: 'text' },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  filters: {
    regulation: [FilledText(100, 'The key of a regulation'), 'f.regulation = ?'],
    status: [Choice(findingStatuses, 'Only those with this status'), 'f.status = ?'],
    severity: [Choice(severities, 'Only those of this severity'), 'f.severity = ?'],
    decision: [Choice(decisions, 'Only those with this decision'), 'f.decision = ?'],
    category: [TextUpTo(100, 'Only those of this category'), 'f.category = ?'],
    scope_type: [
      Choice(['landscape', 'card'], 'Only those about the landscape as a whole, or about cards'),
      `${scopeType} = ?`,
    ],
    card_id: [Type.String({ ...Uuid, description: 'Only those on this card' }), 'f.card_id = ?::uuid'],
    risk_id: [
      Type.String({ ...Uuid, description: 'Only those that this risk tracks' }),
      'f.risk_id = ?::uuid',
    ],
    ai_detected: [
      BooleanOf('Only those on cards that seem to use AI but do not say so, or the others'),
      'f.ai_detected = ?',
    ],
    include_auto_resolved: withResolved,
  },
  search: `fold(f.requirement || ' ' || f.gap_description || ' ' || coalesce(f.regulation_article, '') || ' ' || coalesce(c.name, ''))`,
  members: {
    ...columnMembers('f', Finding.shown),
    run_id: `coalesce(f.run_id, '${NO_RUN}')`,
    card_name: 'c.name',
    card_type: 'c.type',
    card_has_ai_features: `case jsonb_typeof(c.attributes -> 'hasAiFeatures')
      when 'boolean' then (c.attributes ->> 'hasAiFeatures')::boolean end`,
    scope_type: scopeType,
    risk_reference: '(select r.reference from risks r where r.id = f.risk_id)',
    reviewer_name: 'u.display_name',
    last_seen_run_id: `case when f.rule_key is null then null when f.auto_resolved then f.last_seen_run_id
      else coalesce(s.run_id, f.run_id) end`,
  },
  visible(ctx) {
    requireReader(ctx);
    return [visibleFindings(ctx)];
  },
  where: (_ctx, params) => (params.include_auto_resolved ? [] : [unresolved]),
});

/** Findings of one card, an archived one too. */
export const cardFindingList = defineList({
  ...findingList,
  filters: {
    include_auto_resolved: Flag('Also those that the last scan no longer found'),
  },
  async where(ctx, params, cardId) {
    const cards = await query(ctx.db).rows`select from cards c
      where c.id = ${cardId}::uuid and (${embed(visibleCards(ctx))})`;
    if (cards.length === 0) throw invisibleCardError(ctx, notFound('card', cardId));
    const open = params.include_auto_resolved ? [] : [fragment`not f.auto_resolved`];
    return [fragment`f.card_id = ${cardId}::uuid`, ...open];
  },
});

/** One visible finding as its JSON text. @throws EstateError `not_found`. */
export async function findingText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText> {
  return await readItem(sql, findingList, 'compliance finding', id, [visibleFindings(ctx)]);
}
