import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { etagOf } from '../../../domain/kernel/etag.ts';
import type { ErrorCode } from '../../../platform/errors.ts';
import {
  metadataDocument,
  pbidsFile,
  serviceDocument,
} from '../../../reports/exchange/odata/odata.documents.ts';
import { handleODataRequest } from '../../../reports/exchange/odata/odata.handle.ts';
import type { Wire } from '../../../reports/exchange/odata/odata.wire.ts';
import type { SentOptions } from '../../../reports/exchange/odata/query/query.options.ts';
import { clientGone } from '../../gone.ts';
import { ok, routesOf } from '../../operation.ts';
import { checkBySchema } from '../../plugins/validation.ts';
import { ODataErrorSchema, ODataResponseSchema, ODataServiceSchema } from '../../schemas/odata.ts';
import type { App } from '../../types.ts';
import {
  checkHeaders,
  checkTextAccepted,
  clientVersion,
  metadataForm,
  negotiateWire,
  ODATA_PATH,
  readPreferences,
  serviceRoot,
} from './odata.headers.ts';
import { aliasesOf, FormatQuery, normaliseQuery, ODataQuery } from './odata.query.ts';

const group = { tag: 'OData', permission: 'inventory.export', odata: true } as const;
const reading = {
  permissionNote: 'relations.view for relations; costs.view for costs',
  query: ODataQuery,
  errors: [
    'odata_invalid_query',
    'odata_not_implemented',
    'position_expired',
    'not_acceptable',
    'precondition_failed',
  ] as ErrorCode[],
} as const;
const Part = Type.String({ minLength: 1, maxLength: 300 });
/** Empty for the service root with a trailing slash. */
const First = Type.String({ maxLength: 300 });

/** OData 4.01: the inventory for spreadsheets and BI tools. */
export async function registerODataRoutes(root: App): Promise<void> {
  root.addSchema(ODataErrorSchema);
  await root.register(async (app) => {
    checkBySchema(app);
    app.addHook('preValidation', async (request) => {
      normaliseQuery(request);
      checkHeaders(request);
    });
    registerDocuments(app);
    registerResources(app);
  });
}

function registerDocuments(app: App): void {
  const routes = routesOf(app, group);
  routes.get(ODATA_PATH, {
    id: 'readODataService',
    summary: 'List the entity sets of OData',
    description: 'The URL to enter in spreadsheets and BI tools.',
    query: FormatQuery,
    answers: ok('The service document', ODataServiceSchema),
    errors: ['not_acceptable', 'odata_invalid_query', 'precondition_failed'],
    handler: async ({ ctx, query, request, reply }) => {
      const wire = negotiateWire(request, query.$format);
      return sendJson(reply, wire, serviceDocument(ctx, wire));
    },
  });

  routes.get(`${ODATA_PATH}/$metadata`, {
    id: 'readODataMetadata',
    summary: 'Read the metadata document of OData',
    description:
      'CSDL 4.01 as XML, or as JSON by `Accept` or `$format=json`. Properties that the caller may not see are absent.',
    query: FormatQuery,
    answers: {
      200: {
        description: 'The metadata document',
        schema: Type.Unsafe<unknown>({ type: ['string', 'object'] }),
        mediaType: ['application/xml', 'application/json'],
      },
    },
    errors: ['not_acceptable', 'odata_invalid_query', 'precondition_failed'],
    handler: async ({ ctx, query, request, reply }) => {
      const form = metadataForm(request, query.$format);
      const version = clientVersion(request.headers);
      return reply
        .header('odata-version', version)
        .header('vary', 'Accept, OData-MaxVersion')
        .header('content-type', `application/${form}; charset=utf-8`)
        .send(metadataDocument(ctx, form, version));
    },
  });

  routes.get(`${ODATA_PATH}/estate.pbids`, {
    id: 'downloadODataPbids',
    summary: 'Download a file that opens Power BI on this service',
    answers: ok(
      'The file',
      Type.Object({ version: Type.String() }, { additionalProperties: true }),
      'Content-Disposition',
    ),
    errors: ['odata_invalid_query', 'precondition_failed'],
    handler: async ({ request, reply }) =>
      reply
        .header('content-type', 'application/json; charset=utf-8')
        .header('content-disposition', 'attachment; filename="estate.pbids"')
        .send(pbidsFile(serviceRoot(request))),
  });
}

function registerResources(app: App): void {
  const routes = routesOf(app, group);
  const json = { description: 'The resource of the path', schema: ODataResponseSchema };
  const any = { ...json, mediaType: ['application/json', 'text/plain'] };
  const none = { description: 'There is no value, or no related entity' };

  routes.get(`${ODATA_PATH}/:resource`, {
    ...reading,
    id: 'readODataSet',
    summary: 'Read an entity set or one entity over OData',
    description:
      'An entity set such as `Application`, or one entity such as `Application(<id>)`. A page has 1,000 entities, or the number of `Prefer: odata.maxpagesize`, at most 5,000; `@odata.nextLink` is the URL of the next page. With `Prefer: odata.track-changes` the last page has `@odata.deltaLink`, which returns the changes since then.',
    params: Type.Object({ resource: First }),
    headers: ['Prefer', 'If-None-Match'],
    answers: { 200: json },
    handler: async ({ ctx, params, query, request, reply }) =>
      send(ctx, request, reply, [params.resource], query),
  });

  routes.get(`${ODATA_PATH}/:resource/:part`, {
    ...reading,
    id: 'readODataPart',
    summary: 'Read a property, related entities or a count over OData',
    description: 'Of an entity: a property or a navigation property; of a set: `$count`.',
    params: Type.Object({ resource: First, part: Part }),
    headers: ['Prefer', 'If-None-Match'],
    answers: { 200: any, 204: none },
    handler: async ({ ctx, params, query, request, reply }) =>
      send(ctx, request, reply, [params.resource, params.part], query),
  });

  routes.get(`${ODATA_PATH}/:resource/:part/:suffix`, {
    ...reading,
    id: 'readODataSuffix',
    summary: 'Read a raw value, a count or references over OData',
    description: 'Of a property: `$value`; of a navigation property: `$count` or `$ref`.',
    params: Type.Object({ resource: First, part: Part, suffix: Part }),
    headers: ['Prefer', 'If-None-Match'],
    answers: { 200: any, 204: none },
    handler: async ({ ctx, params, query, request, reply }) =>
      send(ctx, request, reply, [params.resource, params.part, params.suffix], query),
  });
}

async function send(
  ctx: Ctx,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: string[],
  options: SentOptions,
): Promise<FastifyReply> {
  if (parts[0] === '') {
    const wire = negotiateWire(request, options.$format);
    return sendJson(reply, wire, serviceDocument(ctx, wire));
  }
  const text = /^\$(count|value)$/i.test(parts.at(-1)!);
  if (text) checkTextAccepted(request, options.$format);
  const wire = text ? negotiateWire(request, 'json') : negotiateWire(request, options.$format);
  const response = await handleODataRequest(ctx, {
    parts,
    options,
    aliases: aliasesOf(request),
    wire,
    signal: clientGone(reply),
    ...readPreferences(request),
  });
  reply.header('odata-version', wire.version);
  if (response.applied.length > 0) reply.header('preference-applied', response.applied.join(', '));
  if (response.etag) reply.header('etag', response.etag);
  if (response.body === undefined) return reply.code(204).send();
  if (response.kind === 'json' || typeof response.body !== 'string')
    return sendJson(reply, wire, response.body);
  return reply.header('content-type', 'text/plain; charset=utf-8').send(response.body);
}

function sendJson(reply: FastifyReply, wire: Wire, body: string | Buffer[]): FastifyReply {
  const exact = wire.exactNumbers ? '; IEEE754Compatible=true' : '';
  reply
    .header('odata-version', wire.version)
    .header('vary', 'Accept, OData-MaxVersion, Prefer')
    .header('content-type', `application/json; odata.metadata=${wire.metadata}${exact}; charset=utf-8`);
  // the conditional plugin adds the ETag of text bodies
  if (typeof body === 'string') return reply.send(body);
  return reply
    .header('etag', etagOf(body))
    .header(
      'content-length',
      body.reduce((sum, { length }) => sum + length, 0),
    )
    .send(Readable.from(body, { objectMode: false }));
}
