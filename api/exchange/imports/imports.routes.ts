import fastifyMultipart from '@fastify/multipart';
import { requireImportRights } from '../../../domain/exchange/imports/imports.rights.ts';
import { startImport } from '../../../domain/exchange/imports/imports.start.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { EstateError } from '../../../platform/errors.ts';
import { routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import { registerValidation } from '../../plugins/validation.ts';
import { ImportQuery } from '../../schemas/imports.ts';
import { StartedJobSchema } from '../../schemas/jobs.ts';
import type { App } from '../../types.ts';
import { MAX_UPLOAD, rawTypes, receiveUpload } from './imports.upload.ts';

const cards = `type,external_id,name,lifecycle.active,attributes.businessCriticality
Application,APP-1,Payroll,2020-01-01,missionCritical
`;
const cardLine = '{"type":"Application","external_id":"APP-1","name":"Payroll"}\n';

/** The import of files as jobs. */
export async function registerImportRoutes(app: App, { blobs }: Services): Promise<void> {
  // a plugin with its own body parsers: files are streamed to the storage
  await app.register(async (scope) => {
    const uploads = scope as unknown as App;
    const routes = routesOf(uploads, { tag: 'Imports and exports' });
    // a plugin does not inherit the validator compiler
    registerValidation(uploads);
    uploads.removeAllContentTypeParsers();
    for (const type of Object.keys(rawTypes)) {
      uploads.addContentTypeParser(type, (_request, payload, done) => done(null, payload));
    }
    await uploads.register(fastifyMultipart);

    routes.post('/api/v1/imports', {
      id: 'startImport',
      summary: 'Import cards or relations from a file, as a job',
      description:
        'CSV or NDJSON. Invalid rows are skipped, unless `atomic` is true. The job’s `counts` are `total`, `created`, `updated`, `unchanged` and `failed`; its result file is the report as NDJSON with `line`, `external_id`, `outcome` and `errors`.',
      permission: 'login',
      permissionNote:
        'inventory.create for cards; inventory.edit for cards in the mode upsert; relations.manage for relations',
      query: ImportQuery,
      consumes: {
        'text/csv': { example: cards },
        'application/x-ndjson': { example: cardLine },
        'multipart/form-data': {},
      },
      bodyLimit: MAX_UPLOAD,
      ownIdempotency: true,
      answers: { 202: { description: 'The job has been started', schema: StartedJobSchema } },
      handler: async ({ ctx, query, request, reply }) => {
        requireImportRights(ctx, query);
        const { content, format } = await receiveUpload(request, blobs);
        try {
          if (await applyIdempotencyKey(request, reply, content.sha256)) {
            await blobs.remove(content.id);
            return reply;
          }
          const job = await startImport(ctx, blobs, content, { ...query, format });
          reply.code(202).header('location', job.links.self);
          return job;
        } catch (error) {
          // after any other error the job may have been committed
          if (error instanceof EstateError) await blobs.remove(content.id);
          throw error;
        }
      },
    });
  });
}
