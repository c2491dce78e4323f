import path from 'node:path';
import { startChild } from './child.ts';

/** Where Node keeps modules compiled: the processes of a run load the same ones again and again. */
export const compileCache = path.resolve(import.meta.dirname, '../../node_modules/.cache/compiled');

/** Fills it. Processes that are killed, as most of those are that tests start, leave nothing there for the next. */
export async function compileAll(): Promise<void> {
  const file = path.join(import.meta.dirname, 'compile-all.ts');
  await startChild(file, [], { NODE_COMPILE_CACHE: compileCache }).ended();
}
