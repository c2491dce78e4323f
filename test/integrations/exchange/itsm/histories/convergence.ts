import fc from 'fast-check';
import { checkConvergence } from './check.ts';
import { executeHistory } from './execute.ts';
import type { Landscape } from './landscape.ts';
import type { Mutant } from './memory.port.ts';
import { createMemory } from './memory.ts';
import { type History, histories } from './steps.ts';

/** A history after which the sides differ, with its log and errors. */
export class Divergence extends Error {}

/** Executes a history and checks it. @throws Divergence */
export async function expectConvergence(history: History, landscape: Landscape): Promise<void> {
  const { log, errors } = await executeHistory(history, landscape, checkConvergence);
  if (errors.length > 0)
    throw new Divergence([...log, ...errors.map((fault) => `ERROR: ${fault}`)].join('\n'));
}

/** The property that both sides converge in memory; with a mutant, it fails. */
export const everyHistoryConverges = (mutant?: Mutant) =>
  fc.asyncProperty(histories, async (history) => {
    await expectConvergence(history, createMemory(history.setting, mutant));
  });
