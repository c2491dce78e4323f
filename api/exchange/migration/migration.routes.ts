import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import {
  applyMigration,
  createMigration,
  deleteMigration,
  type MigrationInput,
  readMappings,
  requireExtension,
  requireSource,
  saveMappings,
  sourceList,
} from '../../../domain/exchange/migration/migration.commands.ts';
import {
  errorLines,
  FieldMappings,
  Migration,
  migrationColumns,
  migrationList,
  migrationStatuses,
  offsetPage,
  previewMigration,
  recordColumns,
  recordFilters,
  recordSorts,
} from '../../../domain/exchange/migration/migration.list.ts';
import type { StoredContent } from '../../../domain/kernel/files/files.store.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { Choice, component, Flag, itemComponent, Nullable, object } from '../../../domain/kernel/shapes.ts';
import type { BlobStore } from '../../../platform/blobs.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { listQuery, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { FORM, FORM_OVERHEAD, receiveForm, registerUploads, storeUpload, useUpload } from '../../uploads.ts';

const Text = Nullable(Type.String());
const Count = Type.Integer({ minimum: 0 });

const MigrationSourceSchema = itemComponent('MigrationSource', {
  key: Type.String(),
  label: Type.String(),
  accepted_extensions: Type.Array(Type.String()),
});

const migrationMembers = { ...migrationColumns, status: Choice(migrationStatuses) };
const MigrationSchema = component('Migration', migrationMembers);
/** A migration in a list, with the requested members. */
const MigrationItemSchema = itemComponent('MigrationItem', migrationMembers);

const MigrationRecordSchema = itemComponent('MigrationRecord', {
  ...recordColumns,
  left_out: Type.Array(object({ field: Type.String(), code: Type.String(), message: Type.String() }), {
    description:
      'Values of mapped columns of the row that are not migrated, by column. A column without a mapping is a separate record of the kind `metamodel_field`',
  }),
});

const sourcePage = listResponse(MigrationRecordSchema);
const MigrationPreviewPage = object({
  ...sourcePage.properties,
  offset: Type.Optional(Count),
  limit: Type.Optional(Count),
});

const PreviewQuery = listQuery(recordSorts, 'line', { ...recordFilters, ...offsetPage });

const FieldMappingsSchema = component('MigrationFieldMappings', {
  blocks: Type.Array(
    object({
      native_type: Type.String(),
      target_card_type: Type.String({ description: 'Empty without a card type' }),
      target_type_label: Type.String(),
      source_fields: Type.Array(
        object({
          source_field_key: Type.String(),
          label: Text,
          native_data_type: Text,
          field_type: Text,
          target_card_type: Type.String(),
          mapped_to: Type.Union([Type.String(), Type.Null()], {
            description: 'Null: not mapped; an empty text: left out on request',
          }),
          values: Type.Integer({ minimum: 0, description: 'Number of cells with a value' }),
        }),
      ),
      available_targets: Type.Array(
        object({ key: Type.String(), label: Type.String(), type: Type.String(), section: Text }),
      ),
    }),
  ),
  auto_mapped_columns: Type.Array(object({ source_column: Type.String(), card_target: Type.String() })),
});

const FieldMappingsBody = object({ field_mappings: FieldMappings });

const MigrationForm = object({
  source_key: Type.String({ maxLength: 100, description: 'A key of `GET /migration/sources`' }),
  name: Migration.columns.name,
  file: Type.String({ format: 'binary' }),
  include_archived: Type.Optional(Flag('Whether to include objects that are archived in the source')),
});

/** Maximum size of a file, in bytes: 100 MiB. */
const MAX_MIGRATION = 100 * 1024 * 1024;
const MAX_NAME = 200;
const MAX_FILE_NAME = 255;

/** A received form, whose file is stored. */
interface MigrationUpload {
  content: StoredContent;
  input: MigrationInput;
}

/**
 * Reads the form of an upload and streams its file to the storage; the file of a refused form is removed.
 * @throws EstateError `unsupported_media_type`, `payload_too_large`, `validation_failed`.
 */
async function receiveMigration(request: FastifyRequest, blobs: BlobStore): Promise<MigrationUpload> {
  const { file, values } = await receiveForm(request, {
    maxBytes: MAX_MIGRATION,
    fields: ['source_key', 'name', 'include_archived'],
    read: async (part) => ({
      name: cleanName(part.filename ?? ''),
      content: await storeUpload(blobs, part.file, MAX_MIGRATION),
    }),
    discard: ({ content }) => blobs.remove(content.id),
  });
  try {
    return { content: file.content, input: inputOf(values, file) };
  } catch (error) {
    await blobs.remove(file.content.id);
    throw error;
  }
}

function inputOf(
  values: Record<string, string>,
  file: { name: string; content: StoredContent },
): MigrationInput {
  const errors: FieldError[] = [];
  const refuse = (field: string, code: string, message: string) => errors.push({ field, code, message });
  const name = values.name?.trim() ?? '';
  if (name === '') refuse('name', 'required', 'must not be blank');
  if (name.length > MAX_NAME) refuse('name', 'too_long', `has more than ${MAX_NAME} characters`);
  if (name.includes('\0') || !name.isWellFormed()) refuse('name', 'bad_text', 'contains invalid characters');
  if (values.source_key === undefined) refuse('source_key', 'required', 'is required');
  const flag = values.include_archived ?? 'false';
  if (flag !== 'true' && flag !== 'false') refuse('include_archived', 'wrong_type', 'must be true or false');
  if (file.content.size === 0) refuse('file', 'empty', 'is empty');
  if (errors.length > 0) throw invalidFields(errors);
  const source = requireSource(values.source_key!);
  requireExtension(source, file.name);
  return { source: source.key, name, fileName: file.name, include_archived: flag === 'true' };
}

/** The file name of a path without characters that cannot be stored. */
function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!;
  return last
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .toWellFormed()
    .trim()
    .slice(-MAX_FILE_NAME);
}

/** Migrations from other tools: uploaded, previewed, mapped and applied. */
export async function registerMigrationRoutes(app: App, { blobs }: Services): Promise<void> {
  const routes = routesOf(app, { tag: 'Migration', permission: 'admin.migrate' });

  routes.list('listMigrationSources', '/api/v1/migration/sources', sourceList, {
    summary: 'List the supported source tools',
    responses: page('Sources', MigrationSourceSchema),
  });

  routes.list('listMigrations', '/api/v1/migration', migrationList, {
    summary: 'List migrations',
    responses: page('Migrations, newest first', MigrationItemSchema),
  });

  routes.item('getMigration', '/api/v1/migration/:migration_id', migrationList, 'migration', {
    summary: 'Read a migration',
    description:
      '`uploaded` until its file is read, `parsed` until its records are computed, then `previewed`, `applying` and `applied`; `failed` with an `error_message`, or `aborted`, if the job ended early. Poll the job at `job_id`.',
    responses: ok('The migration', MigrationSchema),
  });

  routes.delete('deleteMigration', '/api/v1/migration/:migration_id', {
    summary: 'Delete a migration',
    description: 'Deletes its file and records too. Cards and relations that it has written remain.',
    ifMatch: true,
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteMigration(ctx, params.migration_id),
  });

  await registerMigrationContentRoutes(app, { blobs });
}

/** Records, field mappings and apply operations of a migration. */
async function registerMigrationContentRoutes(app: App, { blobs }: Pick<Services, 'blobs'>): Promise<void> {
  const routes = routesOf(app, { tag: 'Migration', permission: 'admin.migrate' });

  routes.get('previewMigration', '/api/v1/migration/:migration_id/preview', {
    summary: 'Show what a migration would do, record by record',
    description:
      'Computed by running the import and rolling each batch back. `diff` has the form `{field: {old, new}}`; costs require costs.view. After applying, `status`, `target_id` and `error_message` show the result of each record.',
    query: PreviewQuery,
    responses: ok('Records, in the order of the file', MigrationPreviewPage),
    handler: ({ ctx, params, query }) => previewMigration(ctx, params.migration_id, query),
  });

  routes.get('getMigrationMappings', '/api/v1/migration/:migration_id/field-mappings', {
    summary: 'List the current and possible mapping targets of the file’s columns',
    responses: ok('The mapping targets by native type', FieldMappingsSchema),
    handler: ({ ctx, params }) => readMappings(ctx, params.migration_id),
  });

  routes.put('saveMigrationMappings', '/api/v1/migration/:migration_id/field-mappings', {
    summary: 'Map the columns of the file',
    description:
      'Replaces the stored mappings; other columns are mapped by their names. A job computes the records again: the migration is `parsed` until then.',
    body: FieldMappingsBody,
    ifMatch: true,
    responses: ok('The migration', MigrationSchema, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => saveMappings(ctx, params.migration_id, body.field_mappings),
  });

  routes.post('applyMigration', '/api/v1/migration/:migration_id/apply', {
    summary: 'Write a migration into the inventory, as a job',
    description:
      'Tags first, then cards with their tags and stakeholders, then relations, links and comments. Records in conflict are skipped. All writes are one mutation batch with the id of the job, which can be rolled back.',
    permissionNote:
      'inventory.create, inventory.edit, relations.manage, tags.manage, stakeholders.manage, documents.manage and comments.manage for the record kinds that it contains',
    ifMatch: true,
    responses: { 202: { description: 'The migration', schema: MigrationSchema } },
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => applyMigration(ctx, params.migration_id),
  });

  routes.get('downloadMigrationErrors', '/api/v1/migration/:migration_id/errors.csv', {
    summary: 'Download the errors of a migration',
    description:
      'CSV with `sheet, row, entity_kind, source_type, source_id, name, column, reason`: conflicts, records that failed, and values that were left out. Texts that a spreadsheet would evaluate begin with an apostrophe.',
    responses: { 200: { description: 'The report', schema: Type.String(), mediaType: 'text/csv' } },
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
  await registerUploads(app, [FORM], (uploads) => {
    const routes = routesOf(uploads, { tag: 'Migration', permission: 'admin.migrate' });
    routes.post('uploadMigration', '/api/v1/migration/upload', {
      summary: 'Upload a file to migrate from',
      description:
        'At most 100 MiB. A job reads it, maps its columns by their names and computes its records; poll the migration until it is `previewed`. A file can be uploaded once for each source.',
      consumes: { 'multipart/form-data': { schema: MigrationForm } },
      bodyLimit: MAX_MIGRATION + FORM_OVERHEAD,
      ownIdempotency: true,
      responses: created('The migration', MigrationSchema),
      errors: ['conflict'],
      handler: async ({ ctx, request, reply }) => {
        requirePermission(ctx.caller, 'admin.migrate');
        const { content, input } = await receiveMigration(request, blobs);
        const hash = sha256(JSON.stringify([input, content.sha256]));
        return await useUpload(request, reply, { blobs, content, hash }, () =>
          createMigration(ctx, content, input),
        );
      },
    });
  });
}
