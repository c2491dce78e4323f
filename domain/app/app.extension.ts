import { removeEvents } from '../kernel/events/events.retention.ts';
import { deleteExpired, type Extension } from '../kernel/extensions.ts';
import { housekeepingJob } from './housekeeping.job.ts';

/** The tables of the command layer itself. */
export const appExtension: Extension = {
  jobs: [housekeepingJob],
  cleanups: {
    idempotency_keys: deleteExpired(
      'idempotency_keys',
      'created_at < now() - make_interval(hours => ?)',
      ({ idempotency_hours }) => idempotency_hours,
    ),
    list_snapshots: deleteExpired('list_snapshots', `used_at < now() - interval '1 hour'`),
    events: removeEvents,
  },
};
