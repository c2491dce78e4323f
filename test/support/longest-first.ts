import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first: begun last, one of them would keep one core waiting for the other. */
const longest = [
  'platform/embedded-postgres.kills.test.ts',
  'platform/embedded-postgres.test.ts',
  'access/matrix.test.ts',
  'processes/all-in-one.test.ts',
  'docs/examples.test.ts',
  'access/single.test.ts',
  'processes/idempotency.test.ts',
  'access/scopes.test.ts',
  'api/itsm/itsm-returns.test.ts',
  'api/cards/write.fuzz.test.ts',
  'api/requests/bodies.test.ts',
  'access/own-card.test.ts',
  'api/auth/long-tokens.test.ts',
  'api/ai-analysis/duplicates.test.ts',
  'domain/collaboration/files.check.test.ts',
  'domain/app/workspace/files.test.ts',
  'domain/app/workspace/followed.test.ts',
  'checks/house.test.ts',
  'api/events/events.test.ts',
  'reports/kernel/rendering/rendering.test.ts',
  'api/reports/as-of.property.test.ts',
  'api/openapi/document.test.ts',
  'domain/app/workspace/models.test.ts',
  'processes/database-loss.test.ts',
  'processes/apart.test.ts',
  'resilience/webhooks.kill.test.ts',
  'integrations/itsm/runs.faults.test.ts',
  'workers/workspace-apply.kill.test.ts',
  'integrations/itsm/kinds.faults.test.ts',
  'workers/jobs.kill.test.ts',
  'workers/itsm-run.kills.test.ts',
  'workers/import.kill.test.ts',
  'domain/app/workspace/round-trip.test.ts',
  'resilience/database.test.ts',
  'workers/jobs.recovery.test.ts',
  'domain/app/workspace/upsert.test.ts',
  'domain/exchange/imports/dry-run.test.ts',
  'domain/app/workspace/faults.test.ts',
  'workers/itsm-run.kill.test.ts',
  'workers/runtime.test.ts',
  'workers/duplicates.kill.test.ts',
  'workers/compliance-scan.kill.test.ts',
  'workers/migration.kill.test.ts',
  'api/cards/write.concurrency.test.ts',
  'integrations/mail/mail.test.ts',
  'workers/eol-refresh.kill.test.ts',
  'domain/exchange/imports/round-trip.bytes.test.ts',
  'api/itsm/itsm-references.test.ts',
  'integrations/storage/s3.test.ts',
  'workers/batch-rollback.kill.test.ts',
  'workers/relay.test.ts',
  'integrations/eol/refresh.test.ts',
  'reports/exchange/extraction/ranges.test.ts',
  'api/openapi/write.test.ts',
  'api/itsm/itsm-oauth.test.ts',
  'integrations/itsm/histories.stored.test.ts',
  'workers/metamodel-change.kill.test.ts',
  'domain/inventory/cards/bulk.property.test.ts',
  'domain/app/batches/rollback.property.test.ts',
  'workers/scheduled-extraction.kill.test.ts',
  'workers/notifications.kill.test.ts',
  'domain/exchange/imports/cancel.test.ts',
];

/** Begins the files that take longest before all others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) => {
      const at = longest.findIndex((file) => moduleId.endsWith(`/test/${file}`));
      const known = at >= 0 ? at : longest.length;
      // those that share a process follow each other: one of its own in between would end that, and a new one begin
      return project.config.isolate ? known : longest.length + 1 + known;
    };
    const sorted = await super.sort(files);
    return sorted
      .map((file, n) => ({ file, n, at: place(file) }))
      .sort((a, b) => a.at - b.at || a.n - b.n)
      .map(({ file }) => file);
  }
}
