import type { RunRow, RunStage } from '../../../domain/itsm/runs.types.ts';

/** Adds up the seconds of stages, over all that carry the run on. */
export function stopwatch({ stats }: Pick<RunRow, 'stats'>) {
  const seconds: Record<string, number> = { ...stats.seconds };
  return {
    seconds,
    async timed<T>(stage: RunStage, work: () => Promise<T>): Promise<T> {
      const from = performance.now();
      try {
        return await work();
      } finally {
        seconds[stage] = round((seconds[stage] ?? 0) + (performance.now() - from) / 1000);
      }
    },
  };
}

const round = (seconds: number): number => Math.round(seconds * 100) / 100;
