import { LEASE_SECONDS, type Lease, renewLease } from '../domain/kernel/jobs/jobs.lease.ts';
import { JobCancelled, JobLeaseLost, type JobStopped } from '../domain/kernel/jobs/jobs.running.ts';
import type { Db } from '../platform/database.ts';
import type { Logger } from '../platform/logging.ts';

const HEARTBEAT_MS = 2_000;

export interface LeaseRenewal {
  /** Renews the lease now instead of at the next heartbeat. */
  check(): void;
  /** Ends the heartbeats. */
  release(): void;
}

/**
 * Renews a lease every two seconds, and calls `onStop` when the run has to stop: it was cancelled, another worker has the lease,
 * or the lease was not renewed for so long that another worker may have it.
 */
export function startLeaseRenewal(
  db: Db,
  lease: Lease,
  log: Logger,
  onStop: (reason: JobStopped) => void,
): LeaseRenewal {
  let renewedAt = performance.now();
  let isRenewing = false;
  let isReleased = false;

  const renew = async () => {
    if (isRenewing || isReleased) return;
    isRenewing = true;
    const askedAt = performance.now();
    try {
      const state = await renewLease(db, lease);
      renewedAt = askedAt;
      if (isReleased || state === 'held') return;
      onStop(state === 'lost' ? new JobLeaseLost() : new JobCancelled());
    } catch (error) {
      log.warn({ err: error }, 'the heartbeat of a job failed');
    } finally {
      isRenewing = false;
    }
  };
  const timer = setInterval(() => {
    if (performance.now() - renewedAt > LEASE_SECONDS * 1000) onStop(new JobLeaseLost());
    void renew();
  }, HEARTBEAT_MS);

  return {
    check: () => void renew(),
    release() {
      isReleased = true;
      clearInterval(timer);
    },
  };
}
