import { deleteExpired, type Extension } from '../../kernel/extensions.ts';
import { complianceScanJob } from '../runs/analysis.jobs.ts';
import { computedByRuns } from '../runs/runs.model.ts';
import { ComplianceReading, ScannedRegulation } from './scans.model.ts';

/** Compliance scans. */
export const complianceScansExtension: Extension = {
  resources: [
    { ...computedByRuns, model: ScannedRegulation, name: 'scanned regulation' },
    { ...computedByRuns, model: ComplianceReading, name: 'compliance reading' },
  ],
  jobs: [complianceScanJob],
  cleanups: {
    // texts of deleted cards are deleted soon after them
    compliance_readings: deleteExpired(
      'compliance_readings',
      'not exists (select from cards c where c.id = compliance_readings.card_id)',
    ),
  },
};
