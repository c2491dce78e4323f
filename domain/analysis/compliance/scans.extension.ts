import { deleteExpired, type Extension } from '../../kernel/extensions.ts';
import { complianceScanJob } from './scans.job.ts';

/** Compliance scans. */
export const complianceScansExtension: Extension = {
  jobs: [complianceScanJob],
  cleanups: {
    // texts of deleted cards are deleted soon after them
    compliance_readings: deleteExpired(
      'compliance_readings',
      'not exists (select from cards c where c.id = compliance_readings.card_id)',
    ),
  },
};
