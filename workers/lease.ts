import { LEASE_SECONDS, type Lease, renewLease } from '../domain/kernel/jobs/jobs.lease.ts';
import { JobCancelled, JobLeaseLost, type JobStopped } from '../domain/kernel/jobs/jobs.running.ts';
import type { Db } from '../platform/database.ts';
import type { Logger } from '../platform/logging.ts';

const HEARTBEAT_MS = 2_000;

export interface KeptLease {
  /** Looks at the row now instead of at the next heartbeat. */
  check(): void;
  stop(): void;
}

/**
 * Prolongs a lease every two seconds, and tells when the run has to stop: cancelled, taken by another worker, or
 * not confirmed for so long that another may have taken it.
 */
export function keepLease(
  db: Db,
  lease: Lease,
  log: Logger,
  onStop: (reason: JobStopped) => void,
): KeptLease {
  let confirmed = performance.now();
  let asking = false;
  let stopped = false;

  const beat = async () => {
    if (asking || stopped) return;
    asking = true;
    const asked = performance.now();
    try {
      const state = await renewLease(db, lease);
      confirmed = asked;
      if (stopped || state === 'held') return;
      onStop(state === 'lost' ? new JobLeaseLost() : new JobCancelled());
    } catch (error) {
      log.warn({ err: error }, 'the heartbeat of a job failed');
    } finally {
      asking = false;
    }
  };
  const timer = setInterval(() => {
    if (performance.now() - confirmed > LEASE_SECONDS * 1000) onStop(new JobLeaseLost());
    void beat();
  }, HEARTBEAT_MS);

  return {
    check: () => void beat(),
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
