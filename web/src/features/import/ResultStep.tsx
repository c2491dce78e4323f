import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, createImportTicket, type Job, rollBackMutationBatch, waitForJob } from '#client';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useReason } from '../../kit/reasons.ts';
import styles from './import.module.css';
import type { Kind } from './import.search.ts';

/** What an import wrote, and the button that takes all of it back. */
export function ResultStep({ job, kind, type }: { job: Job; kind: Kind; type: string | undefined }) {
  const t = useTexts();
  const { number } = useFormat();
  const reasonOf = useReason();
  const client = useQueryClient();
  const undo = useMutation({
    // the writes of a job are the batch of its id; many are undone by another job
    mutationFn: async () => {
      const answer = await call(rollBackMutationBatch({ path: { id: job.id }, body: { dry_run: false } }));
      if ('job_id' in answer) await waitForJob(answer.job_id as string);
    },
    onSettled: () => client.invalidateQueries(),
  });
  // the rows as they were sent, with the reasons, to be corrected and imported again
  const report = useMutation({
    mutationFn: async () => {
      const { ticket } = await call(createImportTicket({ path: { id: job.id } }));
      const query = new URLSearchParams({ format: 'xlsx', ticket });
      window.location.assign(`/api/v1/imports/${job.id}/report?${query}`);
    },
  });
  const failure = undo.error ?? report.error;
  const counts = (['created', 'updated', 'unchanged', 'failed'] as const).filter((one) => job.counts[one]);
  return (
    <section className={styles.step} role="status">
      <h2>{t(undo.isSuccess ? 'import.undone' : 'import.done')}</h2>
      {undo.isSuccess ? (
        <p className="secondary">
          {t('import.undoneRows', { count: (job.counts.created ?? 0) + (job.counts.updated ?? 0) })}
        </p>
      ) : (
        <dl className={styles.counts}>
          {counts.map((one) => (
            <div key={one} data-outcome={one}>
              <dt>{t(`import.outcome.${one}`)}</dt>
              <dd>{number(job.counts[one]!)}</dd>
            </div>
          ))}
        </dl>
      )}
      {failure && (
        <p role="alert" className={styles.failure}>
          {reasonOf(failure)}
        </p>
      )}
      <div className={styles.apply}>
        {(job.counts.failed ?? 0) > 0 && (
          <Button
            variant="default"
            leftSection={<Icon name="download" />}
            loading={report.isPending}
            onClick={() => report.mutate()}
          >
            {t('import.report')}
          </Button>
        )}
        {!undo.isSuccess && (
          <Button
            variant="default"
            leftSection={<Icon name="undo" />}
            loading={undo.isPending}
            onClick={() => undo.mutate()}
          >
            {t('import.undo')}
          </Button>
        )}
        <Button
          renderRoot={(props) => (
            <Link to="/inventory" search={{ sort: '-updated_at', ...(type && { type }) }} {...props} />
          )}
        >
          {t(kind === 'cards' ? 'import.toCards' : 'import.toInventory')}
        </Button>
      </div>
    </section>
  );
}
