import type { RunRow, RunStage } from '../../../domain/exchange/itsm/runs.types.ts';

export type Stopwatch = ReturnType<typeof stopwatch>;

/** Adds up the seconds of stages, over all that carry the run on. */
export function stopwatch({ stats }: Pick<RunRow, 'stats'>) {
  const seconds: Record<string, number> = { ...stats.seconds };
  const add = (stage: RunStage, since: number) => {
    seconds[stage] = round((seconds[stage] ?? 0) + (performance.now() - since) / 1000);
  };
  return {
    seconds,
    add,
    async timed<T>(stage: RunStage, work: () => Promise<T>): Promise<T> {
      const from = performance.now();
      try {
        return await work();
      } finally {
        add(stage, from);
      }
    },
  };
}

const round = (seconds: number): number => Math.round(seconds * 100) / 100;
