import { queryRows } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { deleteRows } from '../../kernel/resources/rows.ts';
import { requireMaintainer } from './compliance.access.ts';
import { Finding, type FindingRow } from './compliance.model.ts';
import type { Decision } from './compliance.types.ts';
import { needsNote, nextDecisions } from './decisions.rules.ts';
import { store, trackedBy } from './findings.commands.ts';
import { findingEvent } from './findings.events.ts';
import { findingText } from './findings.list.ts';
import { type LoadedFinding, lockFinding, lockFindings } from './findings.load.ts';

export interface DecisionInput {
  decision: Decision;
  /** Absent: the note is not changed. */
  review_note?: string | null;
}

/** A finding that a bulk operation did not change. */
interface Skipped {
  id: string;
  code: string;
  message: string;
}

export interface BulkResult {
  updated: number;
  skipped: Skipped[];
}

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
    const found = await lockFinding(work, ctx, id);
    const { row, card } = found;
    if (ctx.ifMatch) checkIfMatch(ctx, await findingText(work.sql, ctx, row.id));
    if (row.decision === 'risk_tracked') throw new EstateError('wrong_state', ...trackedBy(found));
    const allowed = nextDecisions('person', row.decision);
    if (!allowed.includes(input.decision)) {
      throw new EstateError('wrong_state', illegal(found, input.decision), {
        extra: { decision: row.decision, allowed },
      });
    }
    const after = await store(work, row, {
      ...decided(input),
      reviewed_by: ctx.caller.userId,
      reviewed_at: new Date().toISOString(),
    });
    work.emit(findingEvent(card, row, after));
    return await findingText(work.sql, ctx, row.id);
  });
}

const decided = ({ decision, review_note }: DecisionInput): Partial<FindingRow> =>
  review_note === undefined ? { decision } : { decision, review_note };

/** The distinct findings of a bulk operation in the given order; unknown ones are skipped. */
async function named(
  work: Work,
  ctx: Ctx,
  ids: readonly string[],
  skipped: Skipped[],
): Promise<LoadedFinding[]> {
  const found = await lockFindings(work, ctx, ids);
  return [...new Set(ids.map((id) => id.toLowerCase()))].flatMap((id) => {
    const finding = found.get(id);
    if (finding) return [finding];
    skipped.push({ id, code: 'not_found', message: 'There is no such finding.' });
    return [];
  });
}

/** Decides about many findings; those whose present decision does not allow it are skipped. @throws EstateError as for one. */
export async function decideFindings(ctx: Ctx, ids: string[], input: DecisionInput): Promise<BulkResult> {
  requireMaintainer(ctx);
  requireNote(input);
  return await command(ctx, async (work) => {
    const skipped: Skipped[] = [];
    const taken = (await named(work, ctx, ids, skipped)).filter((found) => {
      const { row } = found;
      if (nextDecisions('person', row.decision).includes(input.decision)) return true;
      const message = illegal(found, input.decision);
      skipped.push({ id: row.id, code: 'wrong_state', message });
      return false;
    });
    const updated = await queryRows<{ row: FindingRow }>(
      work.sql,
      `update compliance_findings f set decision = ?, review_note = case when ?::boolean then ? else f.review_note end,
         reviewed_by = ?::uuid, reviewed_at = clock_timestamp(), updated_at = clock_timestamp()
       where f.id = any(?::uuid[]) returning to_jsonb(f) as row`,
      [
        input.decision,
        input.review_note !== undefined,
        input.review_note ?? null,
        ctx.caller.userId,
        taken.map(({ row }) => row.id),
      ],
    );
    const after = new Map(updated.map(({ row }) => [row.id, row]));
    for (const { row, card } of taken) work.emit(findingEvent(card, row, after.get(row.id)!));
    return { updated: taken.length, skipped };
  });
}

/** Deletes many findings; those that a risk tracks are skipped. @throws EstateError `forbidden`. */
export async function deleteFindings(ctx: Ctx, ids: string[]): Promise<BulkResult> {
  requireMaintainer(ctx);
  return await command(ctx, async (work) => {
    const skipped: Skipped[] = [];
    const taken = (await named(work, ctx, ids, skipped)).filter((found) => {
      const { row } = found;
      if (row.decision !== 'risk_tracked') return true;
      skipped.push({ id: row.id, code: 'wrong_state', message: trackedBy(found)[0] });
      return false;
    });
    const deleted = taken.map(({ row }) => row.id);
    await deleteRows(work.sql, Finding, (query) => query.whereIn('id', deleted));
    for (const { row, card } of taken) work.emit(findingEvent(card, row, null));
    return { updated: taken.length, skipped };
  });
}
