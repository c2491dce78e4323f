import { countOpenTodos } from '../collaboration/todos/todos.commands.ts';
import { countPendingSurveys } from '../governance/surveys/surveys.list.ts';
import type { Ctx } from '../kernel/context.ts';

/** Counts of open items of the caller. */
export interface BadgeCounts {
  open_todos: number;
  pending_surveys: number;
}

/** Counts the open items of the caller. */
export async function countBadges(ctx: Ctx): Promise<BadgeCounts> {
  return { open_todos: await countOpenTodos(ctx), pending_surveys: await countPendingSurveys(ctx) };
}
