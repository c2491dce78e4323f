import { EstateError } from '../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { requireInitiative, requirePpmReader } from './initiatives.ts';
import { completionOf } from './plan.completion.ts';
import { loadPlan, loadWork } from './plan.load.ts';
import { scheduleOf } from './plan.schedule.ts';
import { dayNumber, dayText } from './plan.types.ts';
import type { PlanKind } from './ppm.types.ts';

/** How far an initiative is, 0 to 100 with one decimal. @throws EstateError `forbidden`, `not_found`. */
export async function readCompletion(ctx: Ctx, initiativeId: string): Promise<{ completion: number }> {
  requirePpmReader(ctx);
  const { id } = await requireInitiative(ctx.db, ctx, initiativeId);
  const { items, tasks } = await loadWork(ctx.db, id);
  return { completion: completionOf(items, tasks) };
}

/** A task or an item with its times; days as `YYYY-MM-DD`, null beyond the year 9999. */
interface PlannedItem {
  kind: PlanKind;
  id: string;
  title: string;
  wbs_id: string | null;
  duration: number;
  earliest_start: string | null;
  earliest_end: string | null;
  latest_start: string | null;
  latest_end: string | null;
  slack: number;
  critical: boolean;
}

export interface CriticalPath {
  initiative_id: string;
  start_date: string | null;
  end_date: string | null;
  duration: number;
  critical_path: Pick<PlannedItem, 'kind' | 'id' | 'title'>[];
  items: PlannedItem[];
}

/** Days as texts, each made once: a plan names few days many times. */
function dayTexts(): (number: number) => string | null {
  const texts = new Map<number, string | null>();
  return (number) => {
    let text = texts.get(number);
    if (text === undefined) {
      text = dayText(number);
      texts.set(number, text);
    }
    return text;
  };
}

/** When what of an initiative's plan may and must happen. @throws EstateError `forbidden`, `not_found`. */
export async function readCriticalPath(ctx: Ctx, initiativeId: string): Promise<CriticalPath> {
  requirePpmReader(ctx);
  const { id } = await requireInitiative(ctx.db, ctx, initiativeId);
  const plan = await loadPlan(ctx.db, id);
  const today = dayNumber(new Date().toISOString().slice(0, 10));
  const schedule = scheduleOf(plan, today);
  // no write leaves one behind
  if (!schedule) throw new EstateError('conflict', 'Parts of the plan wait for each other.');
  const { start, end, members } = schedule;
  const day = dayTexts();
  const titled = (member: { kind: PlanKind; id: string }) => ({
    kind: member.kind,
    id: member.id,
    title: plan.titles.get(member.id)!,
  });
  return {
    initiative_id: id,
    start_date: day(start),
    end_date: day(end),
    duration: end - start,
    critical_path: members.filter(({ leaf, critical }) => leaf && critical).map(titled),
    items: members.map((member) => ({
      ...titled(member),
      wbs_id: member.above,
      duration: member.duration,
      earliest_start: day(member.earliestStart),
      earliest_end: day(member.earliestEnd),
      latest_start: day(member.latestStart),
      latest_end: day(member.latestEnd),
      slack: member.slack,
      critical: member.critical,
    })),
  };
}
