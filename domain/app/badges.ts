import { countOpenTodos } from '../collaboration/todos/todos.commands.ts';
import { countPendingSurveys } from '../governance/surveys/surveys.list.ts';
import type { Ctx } from '../kernel/context.ts';

/** Counts the open items of the caller. */
export async function countBadges(ctx: Ctx) {
  return { open_todos: await countOpenTodos(ctx), pending_surveys: await countPendingSurveys(ctx) };
}
