import { deleteExpired, type Extension } from '../../kernel/extensions.ts';
import { batchRollbackJob } from './batches.rollback.job.ts';

/** Mutation batches. */
export const batchesExtension: Extension = {
  jobs: [batchRollbackJob],
  cleanups: {
    batches: deleteExpired(
      'mutation_batches',
      'created_at < now() - make_interval(days => ?)',
      ({ batches_days }) => batches_days,
    ),
  },
};
