import type { BundleFilter } from '../../../domain/analysis/compliance/scans.queries.ts';
import { activeScans, listBundles, readOverview } from '../../../domain/analysis/compliance/scans.queries.ts';
import { startScan } from '../../../domain/analysis/compliance/scans.start.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { StartedRunSchema } from '../../schemas/analysis.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/compliance.ts';
import type { App } from '../../types.ts';

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
    body: schemas.ScanBody,

    answers: {
      202: { description: 'The scan has started', schema: StartedRunSchema, headers: ['Location'] },
    },
    errors: ['wrong_state'],
    handler: async ({ ctx, body, reply }) => {
      const started = await startScan(ctx, body?.regulations ?? null);
      return reply.code(202).header('location', started.links.job).send(started);
    },
  });

  reading.get('/api/v1/compliance/active-runs', {
    id: 'listActiveComplianceScans',
    summary: 'Read the running scan',
    answers: ok('The scan, or null', schemas.ActiveScansSchema),
    handler: ({ ctx }) => activeScans(ctx),
  });

  reading.get('/api/v1/compliance/overview', {
    id: 'getComplianceOverview',
    summary: 'Read the newest scan and the score of each regulation',
    answers: ok('The newest scan, and scores by regulation', schemas.OverviewSchema),
    handler: ({ ctx }) => readOverview(ctx),
  });

  reading.get('/api/v1/compliance/bundles', {
    id: 'listComplianceBundles',
    summary: 'List the findings by regulation',
    query: listQuery(['sort_order', 'regulation'], 'sort_order', schemas.bundleFilters),
    answers: page('Regulations in their order', schemas.BundleSchema),
    handler: ({ ctx, query }) => listBundles(ctx, query as typeof query & BundleFilter),
  });
}
