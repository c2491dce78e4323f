import fc from 'fast-check';
import { judge } from './judge.ts';
import type { Landscape } from './landscape.ts';
import { live } from './live.ts';
import type { Mutant } from './memory.port.ts';
import { createMemory } from './memory.ts';
import { type History, histories } from './steps.ts';

/** A history that did not end well: what happened, and what is wrong. */
export class Unwell extends Error {}

/** Lives a history through in the landscape. @throws Unwell */
export async function liveWell(history: History, landscape: Landscape): Promise<void> {
  const { log, faults } = await live(history, landscape, judge);
  if (faults.length > 0) throw new Unwell([...log, ...faults.map((fault) => `WRONG: ${fault}`)].join('\n'));
}

/** That every history ends well in memory, or with a mutant, that it does not. */
export const allIsWell = (mutant?: Mutant) =>
  fc.asyncProperty(histories, async (history) => {
    await liveWell(history, createMemory(history.setting, mutant));
  });
