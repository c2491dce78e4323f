import Type, { type TSchema } from 'typebox';
import {
  activateCalculation,
  createCalculation,
  deactivateCalculation,
  deleteCalculation,
  patchCalculation,
} from '../../domain/inventory/calculations/calculations.commands.ts';
import {
  calculationFilters,
  calculationSorts,
  checkFormula,
  listCalculations,
  readCalculatedFields,
  readCalculation,
  tryCalculation,
} from '../../domain/inventory/calculations/calculations.list.ts';
import { startRecalculation } from '../../domain/inventory/calculations/recalculate.type.ts';
import { closed } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import type { Answer } from '../operation.spec.ts';
import { operation } from '../operation.ts';
import * as schemas from '../schemas/calculations.ts';
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Calculations';
const permission = 'admin.metamodel';
const answer: Answer = {
  description: 'The calculation',
  schema: Type.Ref('Calculation#'),
  headers: ['ETag'],
};

/** Formulas that compute fields of cards. */
export function registerCalculationRoutes(app: App): void {
  const { CalculationSchema, CalculationTrialSchema, FormulaCheckSchema } = schemas;
  for (const schema of [CalculationSchema, CalculationTrialSchema, FormulaCheckSchema] as TSchema[]) {
    app.addSchema(schema);
  }

  operation(app, {
    method: 'GET',
    url: '/api/v1/calculations',
    id: 'listCalculations',
    tag,
    summary: 'List the formulas of calculated fields',
    permission: 'login',
    query: listQuery(calculationSorts, 'execution_order', calculationFilters),
    answers: { 200: { description: 'Calculations', schema: listAnswer(Type.Ref('Calculation#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listCalculations(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/calculations',
    id: 'createCalculation',
    tag,
    summary: 'Create a formula, which is not active yet',
    permission,
    body: schemas.CalculationCreateBody,
    bodyExample: {
      name: 'Users and their children',
      target_type_key: 'Application',
      target_field_key: 'numberOfUsers',
      formula: 'SUM(PLUCK(children, "numberOfUsers"))',
    },
    answers: { 201: answer },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createCalculation(ctx, body)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/calculations/calculated-fields',
    id: 'listCalculatedFields',
    tag,
    summary: 'Read which fields active formulas compute, by card type',
    permission: 'login',
    answers: {
      200: { description: 'Field keys', schema: Type.Record(Type.String(), Type.Array(Type.String())) },
    },
    handler: async ({ ctx }) => await readCalculatedFields(ctx),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/calculations/validate',
    id: 'validateFormula',
    tag,
    summary: 'Check a formula without storing it',
    description: '`preview_result` is what it gives a card without values.',
    permission,
    body: schemas.FormulaCheckBody,
    bodyExample: { formula: 'COALESCE(data.numberOfUsers, 0) * 2', target_type_key: 'Application' },
    answers: { 200: { description: 'Whether it can be used', schema: Type.Ref('FormulaCheck#') } },
    handler: async ({ ctx, body }) => checkFormula(ctx, body.formula, body.target_type_key),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/calculations/recalculate/:type_key',
    id: 'recalculateType',
    tag,
    summary: 'Run the active formulas over all cards of a type',
    description: 'The result and the counts of the job are `processed`, `updated` and `errors`.',
    permission,
    params: Type.Object({ type_key: Type.String({ minLength: 1, maxLength: 100 }) }, closed),
    answers: { 202: { description: 'The job has been started', schema: Type.Ref('StartedJob#') } },
    handler: async ({ ctx, params, reply }) => {
      const job = await startRecalculation(ctx, params.type_key);
      return reply.code(202).header('location', job.links.self).send(job);
    },
  });

  registerSingleCalculationRoutes(app);
}

/** One calculation. */
function registerSingleCalculationRoutes(app: App): void {
  operation(app, {
    method: 'GET',
    url: '/api/v1/calculations/:id',
    id: 'getCalculation',
    tag,
    summary: 'Read a formula',
    permission: 'login',
    params: IdParams,
    answers: { 200: answer },
    handler: async ({ ctx, params, reply }) =>
      sendResource(reply, await readCalculation(ctx.db, ctx.metamodel, params.id)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/calculations/:id',
    id: 'patchCalculation',
    tag,
    summary: 'Change a formula',
    description: 'One that is active has to stay free of cycles, and its cards are computed again.',
    permission,
    params: IdParams,
    body: schemas.CalculationPatchBody,
    bodyExample: { execution_order: 10 },
    headers: ['If-Match'],
    answers: { 200: answer },
    errors: ['calculation_cycle', 'field_calculated', 'metamodel_busy'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchCalculation(ctx, params.id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/calculations/:id',
    id: 'deleteCalculation',
    tag,
    summary: 'Delete a formula',
    description: 'The values that it has computed stay.',
    permission,
    params: IdParams,
    answers: { 204: { description: 'Deleted' } },
    errors: ['metamodel_busy'],
    handler: async ({ ctx, params, reply }) => {
      await deleteCalculation(ctx, params.id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/calculations/:id/activate',
    id: 'activateCalculation',
    tag,
    summary: 'Put a formula into force',
    description:
      'From here on its field cannot be written and follows what the formula reads. Its cards are computed at once; those of a type with more than 2,000 by a job. A formula that makes a field for everybody from costs takes `costs.view`.',
    permission,
    params: IdParams,
    answers: { 200: answer },
    errors: ['calculation_cycle', 'field_calculated', 'wrong_state', 'metamodel_busy'],
    handler: async ({ ctx, params, reply }) => sendResource(reply, await activateCalculation(ctx, params.id)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/calculations/:id/deactivate',
    id: 'deactivateCalculation',
    tag,
    summary: 'Put a formula out of force',
    description: 'The values that it has computed stay, and can be written again.',
    permission,
    params: IdParams,
    answers: { 200: answer },
    errors: ['wrong_state', 'metamodel_busy'],
    handler: async ({ ctx, params, reply }) =>
      sendResource(reply, await deactivateCalculation(ctx, params.id)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/calculations/:id/test',
    id: 'testCalculation',
    tag,
    summary: 'Try a formula on a card',
    description: 'Nothing is written. Who does not see costs gets what the formula makes without them.',
    permission,
    params: IdParams,
    body: schemas.CalculationTrialBody,
    answers: { 200: { description: 'What it gives', schema: Type.Ref('CalculationTrial#') } },
    handler: async ({ ctx, params, body }) => await tryCalculation(ctx, params.id, body.card_id),
  });
}
