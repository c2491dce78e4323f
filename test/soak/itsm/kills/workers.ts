import { setTimeout as delay } from 'node:timers/promises';
import { JOBS_CHANNEL } from '../../../../domain/kernel/jobs/jobs.enqueue.ts';
import type { Services } from '../../../../domain/kernel/services.ts';
import type { Child } from '../../../support/child.ts';
import { jobRow, letLeasesPass, startWorkerProcess } from '../../../support/jobs.ts';
import { until } from '../../../support/until.ts';

const FIXTURE = 'test/soak/itsm/kills/killed.processors.ts';

export type WorkerPair = Awaited<ReturnType<typeof startWorkerPair>>;

/** Two workers, so that one can always continue what the other has left. */
export async function startWorkerPair(services: Services) {
  const children: Child[] = [];
  const coming = new Set<Promise<void>>();
  const dead = new Set<number>();
  const startChild = async () => {
    const child = await startWorkerProcess(services, FIXTURE);
    children.push(child);
    void child.ended().then(() => dead.add(child.process.pid!));
  };
  const join = () => {
    const arrival = startChild().finally(() => coming.delete(arrival));
    coming.add(arrival);
  };
  const ensureTwo = async () => {
    const living = children.filter(({ process }) => process.exitCode === null && process.signalCode === null);
    for (let count = living.length + coming.size; count < 2; count += 1) join();
    await Promise.all(coming);
  };
  await ensureTwo();
  const holder = async (jobId: string): Promise<number | undefined> => {
    const { lease_owner } = await jobRow(services, jobId);
    return lease_owner === null ? undefined : Number(lease_owner.split('/')[0]);
  };
  return {
    /** Waits until there are two. */
    ensureTwo,
    /** Kills the one that has the job, if one has. */
    async kill(jobId: string) {
      const pid = await holder(jobId);
      children.find(({ process }) => process.pid === pid)?.kill('SIGKILL');
    },
    /** Waits until the job has ended or the worker that had it has died. @returns whether that died. */
    holderDied: (jobId: string) =>
      until(
        'the worker to die or the job to end',
        async () => {
          const { status } = await jobRow(services, jobId);
          if (['succeeded', 'failed', 'cancelled'].includes(status)) return { died: false };
          const pid = await holder(jobId);
          // mourned once: its name stays with the job until another worker has it
          return pid !== undefined && dead.delete(pid) && { died: true };
        },
        120_000,
      ).then(({ died }) => died),
    /**
     * Has the other worker continue the job. @param more a new worker replaces the one that died.
     * @param forget the queue has lost all it had.
     */
    async resume({ more, forget }: { more: boolean; forget: boolean }) {
      if (more) join();
      if (forget && !services.config.redisUrl)
        await services.db.raw('truncate bullmq.job, bullmq.event cascade');
      // what the dead one has sent last comes to its end at the server first
      await delay(5);
      await letLeasesPass(services);
      await services.db.raw(`select pg_notify(?, '')`, [JOBS_CHANNEL]);
    },
    async close() {
      await Promise.all(coming);
      for (const child of children) {
        child.kill('SIGKILL');
        await child.ended();
      }
    },
  };
}
