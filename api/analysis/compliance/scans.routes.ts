import Type from 'typebox';
import {
  activeScans,
  type BundleFilter,
  ComplianceScore,
  listBundles,
  OverviewSchema,
  readOverview,
  ScanSchema,
} from '../../../domain/analysis/compliance/scans.queries.ts';
import { startScan } from '../../../domain/analysis/compliance/scans.start.ts';
import { StartedRunSchema, startedRunQuery } from '../../../domain/analysis/runs/runs.ts';
import { findingStatuses } from '../../../domain/governance/compliance/compliance.model.ts';
import { withResolved } from '../../../domain/governance/compliance/findings.list.ts';
import {
  Choice,
  Clearable,
  Count,
  component,
  itemComponent,
  itemsIn,
  Nullable,
  object,
} from '../../../domain/kernel/shapes.ts';
import { FindingSchema, Regulation } from '../../governance/compliance/findings.routes.ts';
import { ok, page, routeGroup, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';

const ScanBody = object({
  regulations: Clearable(
    Type.Array(Regulation, itemsIn(1, 200, 'Keys; absent or null: all enabled regulations')),
  ),
});

const ActiveScansSchema = component('ActiveComplianceScans', { compliance: Nullable(ScanSchema) });
const bundleFilters = {
  regulation: Type.Optional(Regulation),
  status: Type.Optional(Choice(findingStatuses, 'Only findings with this status')),
  include_auto_resolved: withResolved,
};
const BundleSchema = itemComponent('ComplianceBundle', {
  regulation: Type.String(),
  label: Nullable(Type.String()),
  is_enabled: Type.Boolean(),
  is_known: Type.Boolean({ description: 'False for a regulation that was deleted' }),
  score: ComplianceScore,
  findings_total: Count,
  findings: Type.Array(FindingSchema, { description: 'The 200 most severe' }),
});

/** Compliance scans and their results. */
export function registerScanRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Compliance' });
  const reading = routesOf(app, routeGroup('Compliance', 'grc', 'compliance.view', 'grc.view'));

  routes.post('startComplianceScan', '/api/v1/compliance/scans', {
    summary: 'Start a compliance scan',
    description:
      'One scan at a time: refused with `wrong_state`, naming the run, while another is running. Existing findings retain their id, decision and note; those that are not found again are resolved.',
    module: 'grc',
    permission: 'compliance.manage',
    permissionNote: 'grc.manage',
    query: startedRunQuery,
    body: ScanBody,
    responses: {
      202: { description: 'The scan has started', schema: StartedRunSchema, headers: ['Location'] },
    },
    errors: ['wrong_state'],
    handler: async ({ ctx, body, query, reply }) => {
      const started = await startScan(ctx, body.regulations ?? null, query.dry_run);
      return reply.code(202).header('location', started.links.job).send(started);
    },
  });

  reading.get('listActiveComplianceScans', '/api/v1/compliance/active-runs', {
    summary: 'Read the running scan',
    responses: ok('The scan, or null', ActiveScansSchema),
    handler: ({ ctx }) => activeScans(ctx),
  });

  reading.get('getComplianceOverview', '/api/v1/compliance/overview', {
    summary: 'Read the newest scan and the score of each regulation',
    responses: ok('The newest scan, and scores by regulation', OverviewSchema),
    handler: ({ ctx }) => readOverview(ctx),
  });

  reading.get('listComplianceBundles', '/api/v1/compliance/bundles', {
    summary: 'List the findings by regulation',
    query: listQuery(['sort_order', 'regulation'], 'sort_order', bundleFilters),
    responses: page('Regulations in their order', BundleSchema),
    handler: ({ ctx, query }) => listBundles(ctx, query as typeof query & BundleFilter),
  });
}
