import Type, { type TSchema } from 'typebox';
import type { BundleFilter } from '../../domain/analysis/compliance/scans.queries.ts';
import { activeScans, listBundles, readOverview } from '../../domain/analysis/compliance/scans.queries.ts';
import { startScan } from '../../domain/analysis/compliance/scans.start.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/compliance.ts';
import type { App } from '../types.ts';

const reading = {
  tag: 'Compliance',
  module: 'grc',
  permission: 'compliance.view',
  permissionNote: 'grc.view',
} as const;

/** Scans of the landscape by the rules of regulations, and how it stands. */
export function registerScanRoutes(app: App): void {
  const shared: TSchema[] = [
    schemas.ScanSchema,
    schemas.ActiveScansSchema,
    schemas.OverviewSchema,
    schemas.BundleSchema,
  ];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    method: 'POST',
    url: '/api/v1/compliance/scans',
    id: 'startComplianceScan',
    tag: 'Compliance',
    summary: 'Look at the landscape by the rules of regulations',
    description:
      'One scan at a time: refused with `wrong_state`, naming the run, while another is under way. Findings keep their id, decision and note; what is seen no more is resolved.',
    module: 'grc',
    permission: 'compliance.manage',
    permissionNote: 'grc.manage',
    body: schemas.ScanBody,
    bodyExample: { regulations: ['gdpr', 'nis2'] },
    answers: {
      202: { description: 'The scan has started', schema: Type.Ref('StartedRun#'), headers: ['Location'] },
    },
    errors: ['wrong_state'],
    handler: async ({ ctx, body, reply }) => {
      const started = await startScan(ctx, body?.regulations ?? null);
      return reply.code(202).header('location', started.links.job).send(started);
    },
  });

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/compliance/active-runs',
    id: 'listActiveComplianceScans',
    summary: 'Read the scan that is under way',
    answers: {
      200: { description: 'The scan, or null', schema: Type.Ref('ActiveComplianceScans#') },
    },
    handler: async ({ ctx }) => await activeScans(ctx),
  });

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/compliance/overview',
    id: 'getComplianceOverview',
    summary: 'Read the newest scan and the score of each regulation',
    answers: {
      200: { description: 'How the landscape stands', schema: Type.Ref('ComplianceOverview#') },
    },
    handler: async ({ ctx }) => await readOverview(ctx),
  });

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/compliance/bundles',
    id: 'listComplianceBundles',
    summary: 'List the findings by regulation',
    query: listQuery(['sort_order', 'regulation'], 'sort_order', schemas.bundleFilters),
    answers: {
      200: { description: 'Regulations in their order', schema: listAnswer(Type.Ref('ComplianceBundle#')) },
    },
    handler: async ({ ctx, query, reply }) =>
      sendJson(reply, await listBundles(ctx, query as typeof query & BundleFilter)),
  });
}
