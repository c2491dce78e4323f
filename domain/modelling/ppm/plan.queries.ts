import { EstateError } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireInitiative, requirePpmReader } from './initiatives.ts';
import { completionOf } from './plan.completion.ts';
import { loadPlan, loadWork, type TitledPlan } from './plan.load.ts';
import { type Schedule, scheduleOf } from './plan.schedule.ts';
import { dayNumber, dayText, partKind } from './plan.types.ts';

/** The completion of an initiative, 0 to 100 with one decimal. @throws EstateError `forbidden`, `not_found`. */
export async function readCompletion(ctx: Ctx, initiativeId: string): Promise<{ completion: number }> {
  requirePpmReader(ctx);
  const { id } = await requireInitiative(ctx.db, ctx, initiativeId);
  const { items, tasks } = await loadWork(ctx.db, id);
  return { completion: completionOf(items, tasks) };
}

/** Formats days as JSON, each once, because a plan contains few days many times. */
function dayTexts(): (day: number) => string {
  const texts = new Map<number, string>();
  return (day) => {
    let text = texts.get(day);
    if (text === undefined) {
      text = JSON.stringify(dayText(day));
      texts.set(day, text);
    }
    return text;
  };
}

/** The schedule of an initiative's plan. @throws EstateError `forbidden`, `not_found`. */
export async function readCriticalPath(ctx: Ctx, initiativeId: string): Promise<JsonText> {
  requirePpmReader(ctx);
  const { id } = await requireInitiative(ctx.db, ctx, initiativeId);
  const plan = await loadPlan(ctx.db, id);
  const today = dayNumber(new Date().toISOString().slice(0, 10));
  const schedule = scheduleOf(plan, today);
  // commands refuse cycles
  if (!schedule) throw new EstateError('conflict', 'Parts of the plan depend on each other.');
  return criticalPathText(id, plan, schedule);
}

/** Written as text directly: objects for thousands of parts would be discarded at once. */
function criticalPathText(id: string, plan: TitledPlan, schedule: Schedule): JsonText {
  const { start, end, order, slack } = schedule;
  const day = dayTexts();
  const critical: string[] = [];
  const items: string[] = [];
  for (const part of order) {
    const first = schedule.earliestStart[part]!;
    const last = schedule.earliestEnd[part]!;
    const parent = plan.parents[part]!;
    const named = `{"kind":"${partKind(plan, part)}","id":"${plan.ids[part]!}","title":${JSON.stringify(plan.titles[part]!)}`;
    const isCritical = slack[part] === 0;
    if (isCritical && !schedule.isSummary[part]) critical.push(`${named}}`);
    items.push(
      `${named},"wbs_id":${parent < 0 ? 'null' : `"${plan.ids[parent]!}"`},"duration":${last - first},` +
        `"earliest_start":${day(first)},"earliest_end":${day(last)},` +
        `"latest_start":${day(schedule.latestStart[part]!)},"latest_end":${day(schedule.latestEnd[part]!)},` +
        `"slack":${slack[part]!},"critical":${isCritical}}`,
    );
  }
  return `{"initiative_id":"${id}","start_date":${day(start)},"end_date":${day(end)},"duration":${end - start},"critical_path":[${critical.join(',')}],"items":[${items.join(',')}]}`;
}
