import { countOpenTodos } from '../collaboration/todos/todos.list.ts';
import { countPendingSurveys } from '../governance/surveys/surveys.list.ts';
import type { Ctx } from '../kernel/context.ts';

/** What waits for the caller, in numbers. */
export interface BadgeCounts {
  open_todos: number;
  pending_surveys: number;
}

/** Counts what waits for the caller. */
export async function countBadges(ctx: Ctx): Promise<BadgeCounts> {
  return { open_todos: await countOpenTodos(ctx), pending_surveys: await countPendingSurveys(ctx) };
}
