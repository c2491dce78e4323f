import { itsmRunJob } from '../../../domain/jobs/kinds/itsm-run.ts';
import type { Services } from '../../../domain/services.ts';
import { openDatabase } from '../../../platform/database.ts';
import { processesRuns } from '../../../workers/itsm-run.ts';
import { createRunner } from '../../../workers/runtime.run.ts';
import type { VirtualClock } from '../../emulators/virtual-clock.ts';
import { begin, type Ended, type Parts, readRun } from './world.ts';

/** Carries out runs in this process as a worker does, on a clock on which waiting takes no time. */
export interface Driver {
  clock: VirtualClock;
  /** Begins a run and carries it on until it has ended, or its job has failed for good. */
  run(world: Parts, mappingId: string, how?: { complete?: boolean }): Promise<Ended>;
  close(): Promise<void>;
}

export function createDriver(services: Services, clock: VirtualClock, page: number): Driver {
  const leases = openDatabase({ url: services.config.databaseUrl!, name: 'leases', poolMax: 2 });
  const runner = createRunner({ services, leases, processors: [processesRuns({ clock, page })] });
  return {
    clock,
    async run(world, mappingId, how = {}) {
      const id = await begin(world, mappingId, how);
      const { job_id } = await services.db('itsm_runs').where({ id }).first('job_id');
      for (;;) {
        const job = await services.db('jobs').where({ id: job_id }).first('status', 'attempt', 'failures');
        if (job.status !== 'queued') return await readRun(world, id);
        // what the queue would wait before it tries again
        if (job.failures > 0)
          clock.advance(Math.min(2 ** job.failures, itsmRunJob.longestWaitSeconds!) * 1_000);
        await runner.run({ id: job_id, attempt: job.attempt });
      }
    },
    close: () => leases.destroy(),
  };
}
