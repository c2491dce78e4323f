import { resolveLate } from './apply.late.ts';
import { applyLocal } from './apply.local.ts';
import { applyRemote } from './apply.remote.ts';
import type { Applying, ApplyOptions } from './apply.state.ts';
import type { EnginePort, Progress, Standing } from './apply.types.ts';
import { inWindows } from './apply.windows.ts';
import type { BookChange } from './book.types.ts';
import type { Mapping } from './mapping.types.ts';
import { acts, type PlanHead, type PlanRow } from './plan.types.ts';

/** How applying ended: `lost` when an answer did not come even after asking again, so that it has to be resumed. */
export interface Applied {
  status: 'done' | 'stopped' | 'lost';
  message: string | null;
  counts: Record<Progress, number>;
}

/**
 * Applies a plan in its order, many rows at once where they do not touch each other, and each only while the state it
 * was made from holds. Called again after a kill it goes on where it was: rows that ended are passed over, and a row
 * whose write was sent is looked up before it is sent again.
 */
export async function applyPlan(
  mapping: Mapping,
  plan: PlanHead,
  port: EnginePort,
  options: ApplyOptions = {},
): Promise<Applied> {
  const counts: Applied['counts'] = { pending: 0, begun: 0, applied: 0, stale: 0, refused: 0, skipped: 0 };
  if (plan.stopped !== null && !options.despiteBreaker) {
    return { status: 'stopped', message: plan.stopped, counts };
  }
  const applying: Applying = { mapping, planId: plan.id, port, options, ended: new Map() };
  const again = new Set(plan.closing.again);
  let undecided = 0;
  for await (const standing of port.rows()) {
    const wanted = standing.filter((one) => isWanted(one, options));
    for (const { row, progress } of standing) applying.ended.set(row.no, progress);
    const lost = await applyRows(applying, wanted);
    for (const { row, approval } of standing) {
      const progress = applying.ended.get(row.no)!;
      counts[progress] += 1;
      if (progress === 'pending' && approval === null) undecided += 1;
      if (row.remoteId !== null && isOpen(row, progress)) again.add(row.remoteId);
    }
    if (lost !== null) return { status: 'lost', message: `No answer came to row ${lost}.`, counts };
  }
  if (undecided === 0) await port.close(closing(plan, again));
  return { status: 'done', message: null, counts };
}

function isWanted({ row, progress, approval }: Standing, { approvedOnly = false }: ApplyOptions): boolean {
  if (progress === 'begun') return true;
  if (progress !== 'pending') return false;
  if (!acts(row)) return true;
  return approvedOnly ? approval === 'approved' : approval !== 'rejected';
}

/** Whether the next run has to look at the row's record again. */
const isOpen = (row: PlanRow, progress: Progress): boolean =>
  progress === 'stale' || progress === 'refused' || (progress === 'pending' && acts(row));

/** @returns the number of a row of which the answer stays away. */
async function applyRows(applying: Applying, wanted: readonly Standing[]): Promise<number | null> {
  for (const { locals, remotes } of inWindows(wanted)) {
    await applyLocal(applying, await resolveLate(applying, locals));
    const lost = await applyRemote(applying, await resolveLate(applying, remotes));
    if (lost !== null) return lost;
  }
  return null;
}

function closing(plan: PlanHead, again: ReadonlySet<string>): BookChange[] {
  const { absences, watermark } = plan.closing;
  return [
    ...Object.entries(absences).map(
      ([remoteId, count]): BookChange => ({ op: 'absences', remoteId, absences: count }),
    ),
    { op: 'again', remoteIds: [...again].sort() },
    { op: 'watermark', watermark },
  ];
}
