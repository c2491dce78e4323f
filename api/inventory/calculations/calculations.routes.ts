import Type from 'typebox';
import {
  activateCalculation,
  createCalculation,
  deactivateCalculation,
  deleteCalculation,
  patchCalculation,
} from '../../../domain/inventory/calculations/calculations.commands.ts';
import {
  calculationList,
  checkFormula,
  readCalculatedFields,
  tryCalculation,
} from '../../../domain/inventory/calculations/calculations.list.ts';
import { startRecalculation } from '../../../domain/inventory/calculations/recalculate.type.ts';
import { Calculation, CalculationRun } from '../../../domain/kernel/formulas/calculations.model.ts';
import {
  component,
  itemComponent,
  Nullable,
  NullableText,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { started } from '../../kernel/jobs/jobs.schemas.ts';
import type { OperationResponse } from '../../operation.responses.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { bodiesOf } from '../../schemas.ts';
import type { App } from '../../types.ts';

const { last_error, last_run_at } = CalculationRun.columns;
const CalculationSchema = itemComponent('Calculation', {
  ...Calculation.columns,
  broken_reason: NullableText(
    'Why it is no longer valid in the metamodel and does not run; null if it is valid',
  ),
  last_error,
  last_run_at,
});

/** The result of a formula: one value, or a list of options. */
const Value = Nullable(
  Type.Union([
    Type.String(),
    Type.Number(),
    Type.Boolean(),
    Type.Array(Nullable(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))),
  ]),
);

const CalculationTrialSchema = component('CalculationTrial', {
  success: Type.Boolean(),
  error: Nullable(Type.String()),
  computed_value: Value,
  card_name: Type.String(),
});

const FormulaCheckSchema = component('FormulaCheck', {
  valid: Type.Boolean(),
  error: Nullable(Type.String()),
  preview_result: Value,
});

const { name, target_type_key, target_field_key, formula, description, execution_order } =
  Calculation.columns;
const bodies = bodiesOf(
  { name, target_type_key, target_field_key, formula },
  { description, execution_order },
);
const CalculationTrialBody = object({ card_id: Uuid });
const FormulaCheckBody = object({ formula, target_type_key });

const answer: OperationResponse = {
  description: 'The calculation',
  schema: CalculationSchema,
  headers: ['ETag'],
};

/** Formulas that compute fields of cards. */
export function registerCalculationRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Calculations', permission: 'admin.metamodel' });

  routes.list('listCalculations', '/api/v1/calculations', calculationList, {
    summary: 'List the formulas of calculated fields',
    permission: 'login',
    responses: page('Calculations', CalculationSchema),
  });

  routes.post('createCalculation', '/api/v1/calculations', {
    summary: 'Create an inactive formula',
    body: bodies.create,
    responses: { 201: answer },
    handler: ({ ctx, body }) => createCalculation(ctx, body),
  });

  routes.get('listCalculatedFields', '/api/v1/calculations/calculated-fields', {
    summary: 'Read which fields active formulas compute, by card type',
    permission: 'login',
    responses: ok('Field keys', Type.Record(Type.String(), Type.Array(Type.String()))),
    handler: ({ ctx }) => readCalculatedFields(ctx),
  });

  routes.post('validateFormula', '/api/v1/calculations/validate', {
    summary: 'Check a formula without storing it',
    description: '`preview_result` is its result for a card without values.',
    body: FormulaCheckBody,
    responses: ok('Whether it can be used', FormulaCheckSchema),
    handler: async ({ ctx, body }) => checkFormula(ctx, body.formula, body.target_type_key),
  });

  routes.post('recalculateType', '/api/v1/calculations/recalculate/:type_key', {
    summary: 'Run the active formulas over all cards of a type',
    description: 'The result and the counts of the job have the members `processed`, `updated` and `errors`.',
    responses: started,
    handler: ({ ctx, params }) => startRecalculation(ctx, params.type_key),
  });

  routes.item('getCalculation', '/api/v1/calculations/:id', calculationList, 'calculation', {
    summary: 'Read a formula',
    permission: 'login',
    responses: { 200: answer },
  });

  routes.patch('patchCalculation', '/api/v1/calculations/:id', {
    summary: 'Change a formula',
    description:
      'A change of an active formula is refused if it would create a cycle; its cards are computed again.',
    body: bodies.patch,
    responses: { 200: answer },
    errors: ['calculation_cycle', 'field_calculated', 'metamodel_busy'],
    handler: ({ ctx, params, body }) => patchCalculation(ctx, params.id, body),
  });

  routes.delete('deleteCalculation', '/api/v1/calculations/:id', {
    summary: 'Delete a formula',
    description: 'The values that it has computed remain.',
    errors: ['metamodel_busy'],
    handler: ({ ctx, params }) => deleteCalculation(ctx, params.id),
  });

  routes.post('activateCalculation', '/api/v1/calculations/:id/activate', {
    summary: 'Activate a formula',
    description:
      'Its field can no longer be written and is computed again whenever a field that the formula reads changes. Its cards are computed immediately; by a job if the type has more than 2,000. A formula that computes a field visible to everybody from costs requires `costs.view`.',
    responses: { 200: answer },
    errors: ['calculation_cycle', 'field_calculated', 'wrong_state', 'metamodel_busy'],
    handler: ({ ctx, params }) => activateCalculation(ctx, params.id),
  });

  routes.post('deactivateCalculation', '/api/v1/calculations/:id/deactivate', {
    summary: 'Deactivate a formula',
    description: 'The values that it has computed remain, and the field can be written again.',
    responses: { 200: answer },
    errors: ['wrong_state', 'metamodel_busy'],
    handler: ({ ctx, params }) => deactivateCalculation(ctx, params.id),
  });

  routes.post('testCalculation', '/api/v1/calculations/:id/test', {
    summary: 'Test a formula on a card',
    description: 'Nothing is written. For callers who do not see costs it is computed without costs.',
    body: CalculationTrialBody,
    responses: ok('What it gives', CalculationTrialSchema),
    handler: ({ ctx, params, body }) => tryCalculation(ctx, params.id, body.card_id),
  });
}
