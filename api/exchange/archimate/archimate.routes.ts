import { Readable } from 'node:stream';
import { requireModelRights, startModelImport } from '../../../domain/exchange/archimate/archimate.import.ts';
import { ArchimateExport, archimateOptions } from '../../../domain/exchange/archimate/archimate.jobs.ts';
import { MAX_MODEL } from '../../../domain/exchange/archimate/archimate.parse.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { startModelExport } from '../../../reports/exchange/archimate/archimate.export.ts';
import { started } from '../../kernel/jobs/jobs.schemas.ts';
import { routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { registerUploads, storeUpload, useUpload } from '../../uploads.ts';

const example =
  '<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" identifier="m"><name>M</name><elements><element identifier="a" xsi:type="ApplicationComponent"><name>Payroll</name></element></elements></model>\n';

/** Export and import of models in the ArchiMate exchange format, as jobs. */
export async function registerArchimateRoutes(app: App, { blobs }: Services): Promise<void> {
  const routes = routesOf(app, { tag: 'Imports and exports' });

  routes.post('startArchimateExport', '/api/v1/archimate/exports', {
    summary: 'Export cards, relations and diagrams as an ArchiMate model, as a job',
    description:
      'The Open Group’s model exchange file format, 3.1. Data without an ArchiMate equivalent is written as properties, so that an import restores it. Fetch the file at `GET /jobs/{id}/result`.',
    permission: 'inventory.export',
    permissionNote: 'relations.view; diagrams.view for diagrams',
    body: ArchimateExport,

    responses: started,
    handler: ({ ctx, body }) => startModelExport(ctx, body),
  });

  await registerUploads(app, ['application/xml', 'text/xml'], (uploads) => {
    const routes = routesOf(uploads, { tag: 'Imports and exports' });
    routes.post('startArchimateImport', '/api/v1/archimate/imports', {
      summary: 'Import an ArchiMate model as cards, relations and diagrams, as a job',
      description:
        'The Open Group’s model exchange file format, 3.0 to 3.2. Invalid objects are skipped: the job’s result file is the report as NDJSON with `kind`, `identifier`, `name`, `outcome`, `errors` and, for data that is not imported, `not_imported`; `result.not_imported` of the job counts these. All objects are written in one transaction, or none if the job fails.',
      permission: 'inventory.create',
      permissionNote: 'relations.manage; diagrams.manage; inventory.edit in the mode upsert',
      query: object(archimateOptions),
      consumes: { 'application/xml': { example }, 'text/xml': { example } },
      bodyLimit: MAX_MODEL,
      ownIdempotency: true,
      responses: started,
      handler: async ({ ctx, query, request, reply }) => {
        requireModelRights(ctx, query);
        const content = await storeUpload(
          blobs,
          (request.body as Readable | undefined) ?? Readable.from([]),
          MAX_MODEL,
        );
        return await useUpload(request, reply, { blobs, content }, () =>
          startModelImport(ctx, content, query),
        );
      },
    });
  });
}
