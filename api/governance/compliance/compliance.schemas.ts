import Type from 'typebox';
import { Finding } from '../../../domain/governance/compliance/compliance.model.ts';
import { Choice, component, Nullable } from '../../../domain/kernel/shapes.ts';

export const Regulation = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The key of a regulation',
});

const { rule_key: _ruleKey, edited: _edited, ...findingColumns } = Finding.columns;
const finding = {
  ...findingColumns,
  run_id: Type.String({
    format: 'uuid',
    description: 'The scan that found it first; the nil UUID for one that a person created',
  }),
  card_name: Nullable(Type.String()),
  card_type: Nullable(Type.String()),
  card_has_ai_features: Nullable(Type.Boolean()),
  scope_type: Choice(['landscape', 'card']),
  risk_reference: Nullable(Type.String()),
  reviewer_name: Nullable(Type.String()),
};
export const FindingSchema = component('ComplianceFinding', finding);
