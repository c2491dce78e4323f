import { todosDueJob } from '../domain/collaboration/todos/todos.due.job.ts';
import { openDueTodos } from '../domain/collaboration/todos/todos.due.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

/** Opens the scheduled to-dos whose time has come. */
export const todosDueProcessor = processes(todosDueJob, async (job) => ({
  counts: { opened: await openDueTodos(job) },
}));
