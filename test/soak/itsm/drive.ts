import { itsmRunJob } from '../../../domain/exchange/itsm/runs.job.ts';
import { JobInterrupted, type JobProcessor } from '../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { undoRun } from '../../../integrations/exchange/itsm/runs/run.undo.ts';
import { openDatabase } from '../../../platform/database.ts';
import { processesRuns } from '../../../workers/exchange/itsm-run.ts';
import { createRunner } from '../../../workers/runner.ts';
import type { VirtualClock } from '../../emulators/virtual-clock.ts';
import { begin, type Ended, type Parts, readRun } from './world.ts';

/** The end of a process in the middle of a run. */
export interface Kill {
  /** Which transaction of the job, counted from where the last process ended. */
  at: number;
  /** Whether the transaction is committed. */
  after: boolean;
  /** What happens before another process continues. */
  meanwhile?: () => Promise<void>;
}

/** Executes runs in this process as a worker does, on a clock on which waiting takes no time. */
export interface Driver {
  clock: VirtualClock;
  /** Starts a run and executes it until it has ended, or its job has failed for good. */
  run(world: Parts, mappingId: string, how?: { complete?: boolean; kills?: Kill[] }): Promise<Ended>;
  /** Undoes a run in the same way. */
  undo(world: Parts, runId: string, kills: Kill[]): Promise<Ended>;
  close(): Promise<void>;
}

export function createDriver(services: Services, clock: VirtualClock, page: number): Driver {
  const leases = openDatabase({ url: services.config.databaseUrl!, name: 'leases', poolMax: 2 });
  let kills: Kill[] = [];
  const processor = mortal(processesRuns({ clock, page }), () => kills.shift());
  const runner = createRunner({ services, leases, processors: [processor] });
  const finish = async (world: Parts, id: string, given: Kill[]): Promise<Ended> => {
    kills = [...given];
    const { job_id } = await services.db('itsm_runs').where({ id }).first('job_id');
    for (;;) {
      const job = await services.db('jobs').where({ id: job_id }).first('status', 'attempt', 'failures');
      if (job.status !== 'queued') return await readRun(world, id);
      // what the queue would wait before it tries again
      if (job.failures > 0)
        clock.advance(Math.min(2 ** job.failures, itsmRunJob.longestWaitSeconds!) * 1_000);
      await runner.run({ id: job_id, attempt: job.attempt });
    }
  };
  return {
    clock,
    run: async (world, mappingId, { kills: given = [], ...how } = {}) =>
      await finish(world, await begin(world, mappingId, how), given),
    undo: async (world, runId, given) => await finish(world, await undoRun(world.ctx, runId), given),
    close: () => leases.destroy(),
  };
}

/** The processor in processes that end where `next` says: nothing that they do afterwards is committed. */
function mortal(processor: JobProcessor, next: () => Kill | undefined): JobProcessor {
  return {
    ...processor,
    async run(job, services) {
      const kill = next();
      if (!kill) return await processor.run(job, services);
      let transactions = 0;
      let dead = false;
      const step = () => {
        dead ||= transactions === kill.at && !kill.after;
        if (dead) throw new JobInterrupted();
        dead = transactions === kill.at;
        transactions += 1;
      };
      const own = {
        ...job,
        checkpoint: async (...args: Parameters<typeof job.checkpoint>) => {
          step();
          await job.checkpoint(...args);
        },
        lock: async (...args: Parameters<typeof job.lock>) => {
          step();
          await job.lock(...args);
        },
      };
      try {
        return await processor.run(own, services);
      } finally {
        if (dead) await kill.meanwhile?.();
      }
    },
  };
}
