import Type from 'typebox';
import { budgetLines, costLines, readHasCosts } from '../../domain/modelling/ppm/lines.ts';
import { projectRisks } from '../../domain/modelling/ppm/project-risks.ts';
import { statusReports } from '../../domain/modelling/ppm/status-reports.ts';
import { operation } from '../operation.ts';
import * as schemas from '../schemas/ppm.ts';
import type { App } from '../types.ts';
import { InitiativeParams, reading, registerPpmKind } from './ppm.crud.ts';

const costsNote = 'Needs costs.view, or a role on the initiative, besides.';

/** How initiatives go, what they cost and may cost, and what could happen to them. */
export function registerInitiativeRoutes(app: App): void {
  registerPpmKind(app, {
    kind: statusReports,
    path: 'reports',
    name: 'StatusReport',
    plural: 'StatusReports',
    a: 'a status report',
    many: 'status reports',
    param: 'report_id',
    schema: schemas.statusReport,
    sorts: ['report_date', 'created_at'],
    create: {
      body: schemas.StatusReportBody,
      example: { report_date: '2026-03-31', schedule_health: 'atRisk', summary: 'The supplier is late.' },
      description: 'The reporter is who adds it.',
    },
    patch: { body: schemas.StatusReportPatch, example: { schedule_health: 'onTrack' } },
  });
  registerPpmKind(app, {
    kind: costLines,
    path: 'costs',
    name: 'CostLine',
    plural: 'CostLines',
    a: 'a cost line',
    many: 'cost lines',
    param: 'cost_id',
    schema: schemas.costLine,
    sorts: ['created_at', 'date', 'description', 'category'],
    create: {
      body: schemas.CostLineBody,
      example: {
        description: 'Licences',
        category: 'opex',
        planned: 12_000,
        actual: 4_000,
        date: '2026-02-01',
      },
    },
    patch: { body: schemas.CostLinePatch, example: { actual: 6_500.5 } },
    note: `The initiative’s \`costActual\` follows: the sum of \`actual\`, empty where that is 0. ${costsNote}`,
  });
  registerPpmKind(app, {
    kind: budgetLines,
    path: 'budgets',
    name: 'BudgetLine',
    plural: 'BudgetLines',
    a: 'a budget line',
    many: 'budget lines',
    param: 'budget_id',
    schema: schemas.budgetLine,
    sorts: ['created_at', 'fiscal_year', 'category'],
    create: {
      body: schemas.BudgetLineBody,
      example: { fiscal_year: 2026, category: 'capex', amount: 250_000 },
    },
    patch: { body: schemas.BudgetLinePatch, example: { amount: 275_000 } },
    note: `The initiative’s \`costBudget\` follows: the sum of \`amount\`, empty where that is 0. ${costsNote}`,
  });

  app.addSchema(schemas.HasCostsSchema);
  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/ppm/initiatives/:initiative_id/has-costs',
    id: 'readHasCosts',
    summary: 'Read whether an initiative has cost and budget lines',
    description: 'While it has, `costActual` or `costBudget` is their sum, and is set by nothing else.',
    params: InitiativeParams,
    answers: { 200: { description: 'Which lines there are', schema: Type.Ref('PpmHasCosts#') } },
    handler: async ({ ctx, params }) => await readHasCosts(ctx, params.initiative_id),
  });

  registerPpmKind(app, {
    kind: projectRisks,
    path: 'risks',
    name: 'ProjectRisk',
    plural: 'ProjectRisks',
    a: 'a project risk',
    many: 'project risks',
    param: 'risk_id',
    schema: schemas.projectRisk,
    sorts: ['created_at', 'risk_score', 'status', 'title'],
    create: {
      body: schemas.RiskBody,
      example: { title: 'The supplier is late', probability: 4, impact: 3 },
      description: 'The score is probability times impact.',
    },
    patch: { body: schemas.RiskPatch, example: { status: 'mitigating', mitigation: 'A second supplier.' } },
  });
}
