import Type from 'typebox';
import { deleteExpired, type Extension } from '../../kernel/extensions.ts';
import { rowModel } from '../../kernel/resources/rows.ts';
import { Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';
import { complianceScanJob, computedByRuns } from '../runs/runs.ts';

/** The last scan of a regulation. */
class ScannedRegulation extends rowModel('compliance_scanned', {
  regulation: Type.String(),
  run_id: Uuid,
  scanned_at: Timestamp,
}) {}

/** The findings of a language model in the texts of a card for a rule. */
class ComplianceReading extends rowModel('compliance_readings', {
  regulation: Type.String(),
  rule_key: Type.String(),
  card_id: Uuid,
  digest: Type.String(),
  applies: Type.Boolean(),
  quote: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  read_at: Timestamp,
}) {}

/** Compliance scans. */
export const complianceScansExtension: Extension = {
  resources: [
    { ...computedByRuns, model: ScannedRegulation, name: 'scanned regulation' },
    { ...computedByRuns, model: ComplianceReading, name: 'compliance reading' },
  ],
  jobs: [complianceScanJob],
  cleanups: {
    // Readings of deleted cards are deleted soon after them.
    compliance_readings: deleteExpired(
      'compliance_readings',
      'not exists (select from cards c where c.id = compliance_readings.card_id)',
    ),
  },
};
