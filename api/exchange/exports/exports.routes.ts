import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ExportRequest, exportFormats } from '../../../domain/exchange/exports/export.job.ts';
import { Card, Lifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { productLanguages } from '../../../domain/kernel/metamodel/languages.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  Choice,
  FilledText,
  Flag,
  Nullable,
  OpenObject,
  OptionalText,
  object,
  optional,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import {
  Manifest,
  mediaTypes,
  readManifest,
  startExport,
} from '../../../reports/exchange/extraction/exports.job.ts';
import {
  extractRequest,
  streamExport,
  streamJson,
} from '../../../reports/exchange/extraction/exports.stream.ts';
import { sendStream } from '../../kernel/files/stream.send.ts';
import { started } from '../../kernel/jobs/jobs.schemas.ts';
import { ok, routesOf } from '../../operation.ts';
import { preferredJob, prefersAsync, sendPreferredJob } from '../../prefer.ts';
import type { App } from '../../types.ts';

const Text = Nullable(Type.String());

/** A card as the JSON export shows it. */
const ExportedCard = object({
  id: Uuid,
  type: Type.String(),
  subtype: Text,
  name: Type.String(),
  description: Text,
  lifecycle: Nullable(Lifecycle),
  attributes: OpenObject,
  status: Card.columns.status,
  data_quality: Type.Number(),
  updated_at: Timestamp,
  tags: Type.Array(object({ name: Type.String(), color: Text, group_name: Type.String() })),
  owner: Text,
  owner_email: Text,
  provider_names: Type.Array(Type.String()),
  ...optional({
    relations: Type.Array(
      object({
        id: Uuid,
        type: Type.String(),
        direction: Choice(['outgoing', 'incoming']),
        peer_id: Uuid,
        peer_type: Type.String(),
        peer_name: Type.String(),
        attributes: OpenObject,
        description: Text,
      }),
    ),
    stakeholders: Type.Array(
      object({ user_id: Uuid, display_name: Type.String(), email: Type.String(), role: Type.String() }),
    ),
  }),
});

/** Sends the rows of an export as they are written, or starts the job if the client prefers that. */
async function sendExport(
  services: Services,
  { ctx, request, reply }: { ctx: Ctx; request: FastifyRequest; reply: FastifyReply },
  asked: ExportRequest,
): Promise<FastifyReply> {
  return prefersAsync(request)
    ? sendPreferredJob(reply, await startExport(ctx, asked))
    : sendStream(reply, await streamExport(services, ctx, asked));
}

const { properties } = ExportRequest;

/** Exports as jobs, and streamed downloads of cards. */
export function registerExportRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Imports and exports', permission: 'inventory.export' });

  routes.post('startExport', '/api/v1/exports', {
    summary: 'Export cards, relations or costs to a file, as a job',
    description:
      'The file contains one snapshot. The job’s `result` is its manifest; send its `position` as `after` to export the changes since then. Fetch the file at `GET /jobs/{id}/result`.',
    permissionNote: 'relations.view for relations; costs.view for costs; inventory.view for changes',
    errors: ['position_expired'],
    languages: ({ metamodel }) => new Set([...metamodel.languages, ...productLanguages]),
    body: ExportRequest,
    responses: started,
    handler: ({ ctx, body, language }) => startExport(ctx, body, language),
  });

  routes.get('streamCardsCsv', '/api/v1/cards/export/csv', {
    summary: 'Stream cards as CSV',
    description:
      'The same rows as those of the export job. `X-Position` is the position in the change feed that they include. With `Prefer: respond-async` the same export is started as a job.',
    query: object({
      type: OptionalText(1000, 'Comma-separated card types; default: all'),
      filter: Type.String({ default: '', maxLength: 4000 }),
      profile: Choice(['report', 'roundtrip'], { default: 'report' }),
      neutralise: properties.neutralise,
      bom: properties.bom,
    }),
    responses: {
      200: { description: 'CSV', schema: Type.String(), mediaType: 'text/csv' },
      202: preferredJob,
    },
    handler: ({ query: { type: types, ...query }, ...call }) =>
      sendExport(services, call, extractRequest({ ...query, types, format: 'csv', kind: 'cards' })),
  });

  routes.get('streamCardsJson', '/api/v1/cards/export/json', {
    summary: 'Stream cards as one JSON array',
    description:
      'Cards of up to 20 types, active and archived, for slides and tools; optionally only those of `filter`. `owner` is the first responsible person, `provider_names` are the related providers, if the caller may see them. `X-Position` is the position in the change feed that they include.',
    permissionNote: 'relations.view to include relations; stakeholders.view to include stakeholders',
    query: object({
      types: FilledText(2000, 'Card types, comma-separated; at most 20'),
      filter: Type.String({ default: '', maxLength: 4000 }),
      include_relations: Flag('Adds `relations` to active cards, as seen from the card'),
      include_stakeholders: Flag('Adds `stakeholders`'),
    }),
    responses: ok('Cards', Type.Array(ExportedCard)),
    handler: async ({ ctx, query, reply }) => {
      return sendStream(reply, await streamJson(services, ctx, query));
    },
  });
}

const mediaType = Object.values(mediaTypes).map((type) => type.replace(/;.*/, ''));

const ExtractQuery = object({
  format: Choice(exportFormats, {
    default: 'ndjson',
    description:
      'Format of the file: Parquet and NDJSON preserve the types of values, CSV and XLSX are for people',
  }),
  types: OptionalText(4000, 'Comma-separated card types, or relation types for relations; default: all'),
  filter: properties.filter,
  columns: OptionalText(8000, 'Comma-separated columns in order; default: all of the profile'),
  profile: properties.profile,
  neutralise: properties.neutralise,
  bom: properties.bom,
  after: properties.after,
});

const kinds = [
  { kind: 'cards', id: 'extractCards', permissionNote: 'inventory.view for changes' },
  {
    kind: 'relations',
    id: 'extractRelations',
    permissionNote: 'relations.view; inventory.view for changes',
  },
  {
    kind: 'costs',
    id: 'extractCosts',
    permissionNote: 'costs.view; relations.view for those of relations; inventory.view for changes',
  },
  {
    kind: 'data_flows',
    id: 'extractDataFlows',
    permissionNote: 'relations.view; inventory.view for changes',
  },
] as const;

/** Streamed extractions, full or incremental, and the manifests of export jobs. */
export function registerExtractRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Imports and exports' });

  for (const { kind, id, permissionNote } of kinds) {
    routes.get(id, `/api/v1/extracts/${kind.replace('_', '-')}`, {
      summary: `Stream ${kind.replace('_', ' ')}, all of them or the changes since a position`,
      description:
        'The same rows as those of the export job, from one snapshot. `X-Position` is the position in the change feed that they include: sent as `after`, the next extraction contains the rows that may have changed since and the deleted and removed ones, marked `deleted` or `removed`. With `Prefer: respond-async` the same export is started as a job.',
      permission: 'inventory.export',
      permissionNote,
      query: ExtractQuery,
      responses: {
        200: { description: 'The rows', schema: Type.String(), mediaType },
        202: preferredJob,
      },
      errors: ['position_expired'],
      handler: ({ query, ...call }) => sendExport(services, call, extractRequest({ ...query, kind })),
    });
  }

  routes.get('getExportManifest', '/api/v1/exports/:id/manifest', {
    summary: 'Download the manifest of an export job’s file',
    description:
      'The request, the time and feed position of the snapshot, the columns with their types and the number of rows of each table, and the size and SHA-256 of the file. The same as the job’s `result`.',
    permission: 'login',
    permissionNote: "admin.events for others' jobs",
    responses: ok('The manifest', Manifest),
    errors: ['job_result_missing'],
    handler: async ({ ctx, params, reply }) => {
      const manifest = await readManifest(ctx, params.id);
      return reply
        .header('content-disposition', `attachment; filename="${manifest.file.name}.manifest.json"`)
        .send(manifest);
    },
  });
}
