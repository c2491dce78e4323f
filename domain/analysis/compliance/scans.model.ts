import Type from 'typebox';
import { rowModel } from '../../kernel/resources/rows.ts';
import { Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** The last scan of a regulation. */
export class ScannedRegulation extends rowModel('compliance_scanned', {
  regulation: Type.String(),
  run_id: Uuid,
  scanned_at: Timestamp,
}) {}

/** What a language model has read from the texts of a card about a rule. */
export class ComplianceReading extends rowModel('compliance_readings', {
  regulation: Type.String(),
  rule_key: Type.String(),
  card_id: Uuid,
  digest: Type.String(),
  applies: Type.Boolean(),
  quote: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  read_at: Timestamp,
}) {}
