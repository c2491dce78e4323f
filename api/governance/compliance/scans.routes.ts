import Type from 'typebox';
import {
  activeScans,
  type BundleFilter,
  listBundles,
  readOverview,
} from '../../../domain/analysis/compliance/scans.queries.ts';
import { startScan } from '../../../domain/analysis/compliance/scans.start.ts';
import { runStatuses } from '../../../domain/analysis/runs/runs.types.ts';
import { findingStatuses } from '../../../domain/governance/compliance/compliance.model.ts';
import { findingFilters } from '../../../domain/governance/compliance/findings.list.ts';
import {
  Choice,
  Clearable,
  Count,
  component,
  itemComponent,
  Nullable,
  object,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { StartedRunSchema } from '../../analysis/ai-analysis/analysis.schemas.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { FindingSchema, Regulation } from './compliance.schemas.ts';

const ScanBody = object({
  regulations: Clearable(
    Type.Array(Regulation, {
      minItems: 1,
      maxItems: 200,
      description: 'Keys; absent or null: all enabled regulations',
    }),
  ),
});

const scan = {
  run_id: Nullable(Uuid),
  status: Nullable(Choice(runStatuses)),
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  error: Nullable(Type.String()),
  progress: Nullable(
    object({
      fraction: Type.Number({ minimum: 0, maximum: 1 }),
      message: Nullable(Type.String({ description: 'The current regulation' })),
      counts: Type.Record(Type.String(), Type.Number()),
    }),
  ),
  summary: Nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        '`regulations`: by key the numbers of rules, checked cards, gaps, and findings that were found, reopened, changed, resolved and unchanged, the `skipped` rules, and in `assessed_by_model` the number of cards that a language model assessed; `without_rules`: regulations without rules; `model_stopped`: why the model was no longer used',
    }),
  ),
};
const ScanSchema = component('ComplianceScan', scan);
const ActiveScansSchema = component('ActiveComplianceScans', { compliance: Nullable(ScanSchema) });
const Score = Type.Integer({
  minimum: 0,
  maximum: 100,
  description:
    'The mean over unresolved findings on active cards: compliant and not applicable 100, partial 50, review needed 30, non-compliant 0',
});
const OverviewSchema = component('ComplianceOverview', {
  compliance_run: ScanSchema,
  compliance_scores: Type.Record(Type.String(), Score, {
    description: 'By regulation, for regulations with findings',
  }),
  compliance_by_status: Type.Record(Type.String(), Type.Record(Type.String(), Type.Integer({ minimum: 1 })), {
    description: 'By regulation: number of findings by status',
  }),
});

const bundleFilters = {
  regulation: Type.Optional(Regulation),
  status: Type.Optional(Choice(findingStatuses, 'Only findings with this status')),
  include_auto_resolved: findingFilters.include_auto_resolved,
};
const BundleSchema = itemComponent('ComplianceBundle', {
  regulation: Type.String(),
  label: Nullable(Type.String()),
  is_enabled: Type.Boolean(),
  is_known: Type.Boolean({ description: 'False for a regulation that was deleted' }),
  score: Score,
  findings_total: Count,
  findings: Type.Array(FindingSchema, { description: 'The 200 most severe' }),
});

/** Compliance scans and their results. */
export function registerScanRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Compliance' });
  const reading = routesOf(app, {
    tag: 'Compliance',
    module: 'grc',
    permission: 'compliance.view',
    permissionNote: 'grc.view',
  });

  routes.post('/api/v1/compliance/scans', {
    id: 'startComplianceScan',
    summary: 'Start a compliance scan',
    description:
      'One scan at a time: refused with `wrong_state`, naming the run, while another is running. Existing findings retain their id, decision and note; those that are not found again are resolved.',
    module: 'grc',
    permission: 'compliance.manage',
    permissionNote: 'grc.manage',
    body: ScanBody,
    responses: {
      202: { description: 'The scan has started', schema: StartedRunSchema, headers: ['Location'] },
    },
    errors: ['wrong_state'],
    handler: async ({ ctx, body, reply }) => {
      const started = await startScan(ctx, body.regulations ?? null);
      return reply.code(202).header('location', started.links.job).send(started);
    },
  });

  reading.get('/api/v1/compliance/active-runs', {
    id: 'listActiveComplianceScans',
    summary: 'Read the running scan',
    responses: ok('The scan, or null', ActiveScansSchema),
    handler: ({ ctx }) => activeScans(ctx),
  });

  reading.get('/api/v1/compliance/overview', {
    id: 'getComplianceOverview',
    summary: 'Read the newest scan and the score of each regulation',
    responses: ok('The newest scan, and scores by regulation', OverviewSchema),
    handler: ({ ctx }) => readOverview(ctx),
  });

  reading.get('/api/v1/compliance/bundles', {
    id: 'listComplianceBundles',
    summary: 'List the findings by regulation',
    query: listQuery(['sort_order', 'regulation'], 'sort_order', bundleFilters),
    responses: page('Regulations in their order', BundleSchema),
    handler: ({ ctx, query }) => listBundles(ctx, query as typeof query & BundleFilter),
  });
}
