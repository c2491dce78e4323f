import { batchRollbackJob } from '../domain/app/batches/batches.rollback.job.ts';
import { type RollbackReport, rollBack } from '../domain/app/batches/batches.rollback.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

/** Rolls back a large batch; the job ends with the transaction, so that a run that is cut off has written nothing. */
export const batchRollbackProcessor = processes(batchRollbackJob, async (job) => {
  const { batch_id, ...request } = job.payload;
  const resultOf = ({ operations: _operations, ...result }: RollbackReport) => ({
    counts: result.counts,
    result: { ...result },
  });
  const report = await rollBack(job.ctx, batch_id, request, {
    begin: (work) => job.hold(work),
    page: (done) => {
      job.signal.throwIfAborted();
      job.progress(done);
    },
    end: (work, done) => job.finish(work, resultOf(done)),
  });
  return resultOf(report);
});
