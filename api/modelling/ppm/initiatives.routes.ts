import {
  budgetLines,
  costLines,
  projectRisks,
  readHasCosts,
  statusReports,
} from '../../../domain/modelling/ppm/initiative.kinds.ts';
import { ok } from '../../operation.ts';
import * as schemas from '../../schemas/ppm.ts';
import type { App } from '../../types.ts';
import { readingRoutes, registerPpmKind } from './ppm.crud.ts';

const costsNote = 'Also requires costs.view, or a role on the initiative.';

/** Status reports, cost and budget lines and risks of initiatives. */
export function registerInitiativeRoutes(app: App): void {
  const reading = readingRoutes(app);

  registerPpmKind(app, {
    kind: statusReports,
    path: 'reports',
    name: 'StatusReport',
    phrase: 'a status report',
    param: 'report_id',
    schema: schemas.statusReport,
    create: {
      example: { report_date: '2026-03-31', schedule_health: 'atRisk', summary: 'The supplier is late.' },
      description: 'The caller becomes its reporter.',
    },
    patch: { example: { schedule_health: 'onTrack' } },
  });
  registerPpmKind(app, {
    kind: costLines,
    path: 'costs',
    name: 'CostLine',
    phrase: 'a cost line',
    param: 'cost_id',
    schema: schemas.costLine,
    create: {
      example: {
        description: 'Licences',
        category: 'opex',
        planned: 12_000,
        actual: 4_000,
        date: '2026-02-01',
      },
    },
    patch: { example: { actual: 6_500.5 } },
    note: `The initiative’s \`costActual\` is set to the sum of \`actual\`, and cleared where that is 0. ${costsNote}`,
  });
  registerPpmKind(app, {
    kind: budgetLines,
    path: 'budgets',
    name: 'BudgetLine',
    phrase: 'a budget line',
    param: 'budget_id',
    schema: schemas.budgetLine,
    create: {
      example: { fiscal_year: 2026, category: 'capex', amount: 250_000 },
    },
    patch: { example: { amount: 275_000 } },
    note: `The initiative’s \`costBudget\` is set to the sum of \`amount\`, and cleared where that is 0. ${costsNote}`,
  });

  reading.get('/api/v1/ppm/initiatives/:initiative_id/has-costs', {
    id: 'readHasCosts',
    summary: 'Read whether an initiative has cost and budget lines',
    description: 'While it has such lines, `costActual` or `costBudget` is their sum and cannot be written.',
    answers: ok('Which kinds of lines exist', schemas.HasCostsSchema),
    handler: ({ ctx, params }) => readHasCosts(ctx, params.initiative_id),
  });

  registerPpmKind(app, {
    kind: projectRisks,
    path: 'risks',
    name: 'ProjectRisk',
    phrase: 'a project risk',
    param: 'risk_id',
    schema: schemas.projectRisk,
    create: {
      example: { title: 'The supplier is late', probability: 4, impact: 3 },
      description: 'The score is probability times impact.',
    },
    patch: { example: { status: 'mitigating', mitigation: 'A second supplier.' } },
  });
}
