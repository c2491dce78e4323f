import { Readable } from 'node:stream';
import fastifyMultipart from '@fastify/multipart';
import Type from 'typebox';
import { errorLines } from '../../../domain/exchange/migration/errors-csv.ts';
import {
  applyMigration,
  createMigration,
  deleteMigration,
  readMappings,
  saveMappings,
} from '../../../domain/exchange/migration/migration.commands.ts';
import {
  listMigrations,
  previewMigration,
  readMigration,
} from '../../../domain/exchange/migration/migration.list.ts';
import { listSources } from '../../../domain/exchange/migration/sources.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { EstateError } from '../../../platform/errors.ts';
import { sendResource } from '../../json.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import { registerValidation } from '../../plugins/validation.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/migration.ts';
import type { App } from '../../types.ts';
import { MAX_MIGRATION, receiveMigration } from './migration.upload.ts';

const FORM_ROOM = 64 * 1024;
const migration = schemas.MigrationSchema;

/** Migrations from other tools: uploaded, previewed, mapped and applied. */
export async function registerMigrationRoutes(app: App, { blobs }: Services): Promise<void> {
  const routes = routesOf(app, { tag: 'Migration', permission: 'admin.migrate' });

  routes.get('/api/v1/migration/sources', {
    id: 'listMigrationSources',
    summary: 'List the supported source tools',
    query: listQuery(['key', 'label'], 'key', {}),
    answers: page('Sources', schemas.MigrationSourceSchema),
    handler: ({ ctx, query }) => listSources(ctx, query),
  });

  routes.get('/api/v1/migration', {
    id: 'listMigrations',
    summary: 'List migrations',
    query: schemas.MigrationListQuery,
    answers: page('Migrations, newest first', schemas.MigrationItemSchema),
    handler: ({ ctx, query }) => listMigrations(ctx, query),
  });

  routes.get('/api/v1/migration/:migration_id', {
    id: 'getMigration',
    summary: 'Read a migration',
    description:
      '`uploaded` until its file is read, `parsed` until its records are computed, then `previewed`, `applying` and `applied`; `failed` with an `error_message`, or `aborted`, if the job ended early. Poll the job at `job_id`.',
    answers: ok('The migration', migration),
    handler: ({ ctx, params }) => readMigration(ctx, params.migration_id),
  });

  routes.delete('/api/v1/migration/:migration_id', {
    id: 'deleteMigration',
    summary: 'Delete a migration',
    description: 'Deletes its file and records too. Cards and relations that it has written remain.',
    headers: ['If-Match'],
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteMigration(ctx, params.migration_id),
  });

  await registerMigrationContentRoutes(app, { blobs });
}

/** Records, field mappings and apply operations of a migration. */
async function registerMigrationContentRoutes(app: App, { blobs }: Pick<Services, 'blobs'>): Promise<void> {
  const routes = routesOf(app, { tag: 'Migration', permission: 'admin.migrate' });

  routes.get('/api/v1/migration/:migration_id/preview', {
    id: 'previewMigration',
    summary: 'Show what a migration would do, record by record',
    description:
      'Computed by running the import and rolling each batch back. `diff` has the form `{field: {old, new}}`; costs require costs.view. After applying, `status`, `target_id` and `error_message` show the result of each record.',
    query: schemas.PreviewQuery,
    answers: ok('Records, in the order of the file', schemas.MigrationPreviewPage),
    handler: ({ ctx, params, query }) => previewMigration(ctx, params.migration_id, query),
  });

  routes.get('/api/v1/migration/:migration_id/field-mappings', {
    id: 'getMigrationMappings',
    summary: 'List the current and possible mapping targets of the file’s columns',
    answers: ok('The mapping targets by native type', schemas.FieldMappingsSchema),
    handler: ({ ctx, params }) => readMappings(ctx, params.migration_id),
  });

  routes.put('/api/v1/migration/:migration_id/field-mappings', {
    id: 'saveMigrationMappings',
    summary: 'Map the columns of the file',
    description:
      'Replaces the stored mappings; other columns are mapped by their names. A job computes the records again: the migration is `parsed` until then.',
    body: schemas.FieldMappingsBody,

    headers: ['If-Match'],
    answers: ok('The migration', migration, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => saveMappings(ctx, params.migration_id, body.field_mappings),
  });

  routes.post('/api/v1/migration/:migration_id/apply', {
    id: 'applyMigration',
    summary: 'Write a migration into the inventory, as a job',
    description:
      'Tags first, then cards with their tags and stakeholders, then relations, links and comments. Records in conflict are skipped. All writes are one mutation batch with the id of the job, which can be rolled back.',
    permissionNote:
      'inventory.create, inventory.edit, relations.manage, tags.manage, stakeholders.manage, documents.manage and comments.manage for the record kinds that it contains',
    headers: ['If-Match'],
    answers: { 202: { description: 'The migration', schema: migration } },
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => applyMigration(ctx, params.migration_id),
  });

  routes.get('/api/v1/migration/:migration_id/errors.csv', {
    id: 'downloadMigrationErrors',
    summary: 'Download the errors of a migration',
    description:
      'CSV with `sheet, row, entity_kind, source_type, source_id, name, column, reason`: conflicts, records that failed, and values that were left out. Texts that a spreadsheet would evaluate begin with an apostrophe.',
    answers: { 200: { description: 'The report', schema: Type.String(), mediaType: 'text/csv' } },
    handler: async ({ ctx, params, reply }) => {
      const lines = await errorLines(ctx, params.migration_id);
      return reply
        .header('content-type', 'text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="migration-errors.csv"')
        .header('cache-control', 'no-store')
        .send(Readable.from(lines));
    },
  });

  await registerUploadRoute(app, { blobs });
}

/** Uploads of files. */
async function registerUploadRoute(app: App, { blobs }: Pick<Services, 'blobs'>): Promise<void> {
  // a plugin with its own body parser: files are streamed to the storage
  await app.register(async (scope) => {
    const uploads = scope as unknown as App;
    const routes = routesOf(uploads, { tag: 'Migration', permission: 'admin.migrate' });
    registerValidation(uploads);
    uploads.removeAllContentTypeParsers();
    await uploads.register(fastifyMultipart);

    routes.post('/api/v1/migration/upload', {
      id: 'uploadMigration',
      summary: 'Upload a file to migrate from',
      description:
        'At most 100 MiB. A job reads it, maps its columns by their names and computes its records; poll the migration until it is `previewed`. A file can be uploaded once for each source.',
      consumes: { 'multipart/form-data': { schema: schemas.MigrationForm } },
      bodyLimit: MAX_MIGRATION + FORM_ROOM,
      ownIdempotency: true,
      answers: created('The migration', migration),
      errors: ['conflict'],
      handler: async ({ ctx, request, reply }) => {
        requirePermission(ctx.caller, 'admin.migrate');
        const { content, input } = await receiveMigration(request, blobs);
        try {
          if (await applyIdempotencyKey(request, reply, sha256(JSON.stringify([input, content.sha256])))) {
            await blobs.remove(content.id);
            return reply;
          }
          return sendResource(reply.code(201), await createMigration(ctx, content, input));
        } catch (error) {
          // after any other error the migration may have been committed
          if (error instanceof EstateError) await blobs.remove(content.id);
          throw error;
        }
      },
    });
  });
}
