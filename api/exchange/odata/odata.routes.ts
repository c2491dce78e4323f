import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { type ErrorCode, EstateError } from '../../../platform/errors.ts';
import {
  metadataDocument,
  pbidsFile,
  serviceDocument,
} from '../../../reports/exchange/odata/odata.documents.ts';
import { invalidQuery } from '../../../reports/exchange/odata/odata.errors.ts';
import { handleODataRequest } from '../../../reports/exchange/odata/odata.handle.ts';
import type { MetadataLevel, Wire } from '../../../reports/exchange/odata/odata.wire.ts';
import type { SentOptions } from '../../../reports/exchange/odata/query/query.options.ts';
import { clientGone } from '../../gone.ts';
import { sendJsonChunks } from '../../json.ts';
import { ok, routesOf } from '../../operation.ts';
import { checkBySchema } from '../../plugins/validation.ts';
import type { App } from '../../types.ts';
import { aliasesOf, FormatQuery, normaliseQuery, ODataQuery } from './odata.query.ts';

const open = { additionalProperties: true } as const;
const example = {
  '@odata.context': 'https://estate.example/odata/v4/$metadata#Application(id,name)',
  value: [{ id: '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11', name: 'Claims' }],
};

/** Entities of a set, one entity, or a property's value. The metadata document describes the other members. */
const ODataResponseSchema = Type.Object(
  {
    '@odata.context': Type.Optional(Type.String()),
    '@odata.count': Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.String()])),
    '@odata.nextLink': Type.Optional(Type.String()),
    '@odata.deltaLink': Type.Optional(Type.String()),
  },
  { ...open, $id: 'ODataResponse', examples: [example] },
);

const ODataServiceSchema = Type.Object(
  {
    '@odata.context': Type.Optional(Type.String()),
    value: Type.Array(
      Type.Object({
        name: Type.String(),
        title: Type.String(),
        kind: Type.Literal('EntitySet'),
        url: Type.String(),
      }),
    ),
  },
  { $id: 'ODataService' },
);

const ODataErrorSchema = Type.Object(
  {
    error: Type.Object({
      code: Type.String(),
      message: Type.String(),
      target: Type.Optional(Type.String({ description: 'The invalid option' })),
      details: Type.Optional(
        Type.Array(Type.Object({ code: Type.String(), message: Type.String(), target: Type.String() })),
      ),
      innererror: Type.Object({ request_id: Type.String(), position: Type.Optional(Type.Integer()) }, open),
    }),
  },
  { $id: 'ODataError' },
);

/** The path of the OData service. */
const ODATA_PATH = '/odata/v4';

/** The highest protocol version that the client supports; 4.01 if the header is missing or invalid. */
export function clientVersion(headers: IncomingHttpHeaders): Wire['version'] {
  return /^\s*4\.0+\s*$/.test(String(headers['odata-maxversion'] ?? '')) ? '4.0' : '4.01';
}

/** The service root URL as the client sees it. */
const serviceRoot = (request: FastifyRequest): string => `${request.protocol}://${request.host}${ODATA_PATH}`;

/**
 * Checks the headers that must be followed or refused (OData protocol, 8.2).
 * @throws EstateError `odata_invalid_query` for a version before 4.0, `precondition_failed` if snapshot isolation is requested.
 */
function checkHeaders({ headers }: FastifyRequest): void {
  const maxVersion = headers['odata-maxversion'];
  const [, major] = /^\s*(\d{1,3})\.\d{1,3}\s*(?:;|$)/.exec(String(maxVersion ?? '4.01')) ?? [];
  if (major === undefined || Number(major) < 4) {
    throw invalidQuery('OData-MaxVersion', 'responses have version 4.0 or 4.01');
  }
  if (headers.isolation !== undefined || headers['odata-isolation'] !== undefined) {
    throw new EstateError(
      'precondition_failed',
      'Isolation: snapshots over several requests are not supported.',
    );
  }
}

interface MediaRange {
  type: string;
  parameters: Map<string, string>;
  quality: number;
}

function mediaRanges(text: string): MediaRange[] {
  const ranges = text.split(',').map((part) => {
    const [type, ...rest] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const parameters = new Map(
      rest.map((piece) => {
        const [name, value = ''] = piece.split('=');
        return [name!.trim().replace(/^odata\./, ''), value.trim().replace(/^"(.*)"$/, '$1')] as const;
      }),
    );
    const quality = Number(parameters.get('q') ?? '1');
    return { type: type!, parameters, quality: Number.isNaN(quality) ? 0 : quality };
  });
  return ranges.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality);
}

const shortForms = new Map([
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['atom', 'application/atom+xml'],
]);

/** Media ranges of `$format`, or else of `Accept`, by descending quality. */
function acceptedRanges(request: FastifyRequest, format: string | undefined): MediaRange[] {
  if (format !== undefined) return mediaRanges(shortForms.get(format.trim().toLowerCase()) ?? format);
  const header = request.headers.accept;
  return header === undefined || header.trim() === '' ? mediaRanges('*/*') : mediaRanges(header);
}

const notAcceptable = (offered: string): EstateError =>
  new EstateError('not_acceptable', `Responses are ${offered}.`);

/** Negotiates the form of the data. @throws EstateError `not_acceptable` if the client does not accept JSON. */
function negotiateWire(request: FastifyRequest, format: string | undefined): Wire {
  const range = acceptedRanges(request, format).find(({ type }) =>
    ['application/json', 'application/*', '*/*'].includes(type),
  );
  if (!range) throw notAcceptable('application/json');
  const level = range.parameters.get('metadata') ?? 'minimal';
  if (!['none', 'minimal', 'full'].includes(level))
    throw notAcceptable('application/json with metadata none, minimal or full');
  return {
    root: serviceRoot(request),
    version: clientVersion(request.headers),
    metadata: level as MetadataLevel,
    exactNumbers: range.parameters.get('ieee754compatible') === 'true',
  };
}

/** Negotiates the form of the metadata document. @throws EstateError `not_acceptable`. */
function metadataForm(request: FastifyRequest, format: string | undefined): 'xml' | 'json' {
  for (const { type } of acceptedRanges(request, format)) {
    if (['application/xml', 'application/*', '*/*', 'text/xml'].includes(type)) return 'xml';
    if (type === 'application/json') return 'json';
  }
  throw notAcceptable('application/xml or application/json');
}

/** Checks that the client accepts plain text. @throws EstateError `not_acceptable`. */
function checkTextAccepted(request: FastifyRequest, format: string | undefined): void {
  const isAccepted = acceptedRanges(request, format).some(({ type }) =>
    ['text/plain', 'text/*', '*/*', 'application/json'].includes(type),
  );
  if (!isAccepted) throw notAcceptable('text/plain');
}

/** Reads the client's preferences (RFC 7240), with or without the `odata.` prefix of version 4.0. */
function readPreferences(request: FastifyRequest): {
  maxPageSize: number | undefined;
  trackChanges: boolean;
} {
  const given = new Map<string, string>();
  for (const part of [request.headers.prefer ?? []].flat().join(',').split(',')) {
    const [name, value = ''] = part.split(';')[0]!.split('=');
    const key = name!
      .trim()
      .toLowerCase()
      .replace(/^odata\./, '');
    if (!given.has(key)) given.set(key, value.trim().replace(/^"(.*)"$/, '$1'));
  }
  const size = given.get('maxpagesize');
  // an invalid preference is ignored
  const maxPageSize = size !== undefined && /^[1-9]\d{0,8}$/.test(size) ? Number(size) : undefined;
  return { maxPageSize, trackChanges: given.has('track-changes') };
}

const group = { tag: 'OData', permission: 'inventory.export', format: 'odata' } as const;
const reading = {
  permissionNote: 'relations.view for relations; costs.view for costs',
  query: ODataQuery,
  headers: ['Prefer', 'If-None-Match'] as ('Prefer' | 'If-None-Match')[],
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
  routes.get('readODataService', ODATA_PATH, {
    summary: 'List the entity sets of OData',
    description: 'The URL to enter in spreadsheets and BI tools.',
    query: FormatQuery,
    responses: ok('The service document', ODataServiceSchema),
    errors: ['not_acceptable', 'odata_invalid_query', 'precondition_failed'],
    handler: async ({ ctx, query, request, reply }) => {
      const wire = negotiateWire(request, query.$format);
      return sendJson(reply, wire, serviceDocument(ctx, wire));
    },
  });

  routes.get('readODataMetadata', `${ODATA_PATH}/$metadata`, {
    summary: 'Read the metadata document of OData',
    description:
      'CSDL 4.01 as XML, or as JSON by `Accept` or `$format=json`. Properties that the caller may not see are absent.',
    query: FormatQuery,
    responses: {
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

  routes.get('downloadODataPbids', `${ODATA_PATH}/estate.pbids`, {
    summary: 'Download a file that opens Power BI on this service',
    responses: ok(
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

  routes.get('readODataSet', `${ODATA_PATH}/:resource`, {
    ...reading,
    summary: 'Read an entity set or one entity over OData',
    description:
      'An entity set such as `Application`, or one entity such as `Application(<id>)`. A page has 1,000 entities, or the number of `Prefer: odata.maxpagesize`, at most 5,000; `@odata.nextLink` is the URL of the next page. With `Prefer: odata.track-changes` the last page has `@odata.deltaLink`, which returns the changes since then.',
    params: Type.Object({ resource: First }),
    responses: { 200: json },
    handler: ({ params, ...call }) => send(call, [params.resource]),
  });
  routes.get('readODataPart', `${ODATA_PATH}/:resource/:part`, {
    ...reading,
    summary: 'Read a property, related entities or a count over OData',
    description: 'Of an entity: a property or a navigation property; of a set: `$count`.',
    params: Type.Object({ resource: First, part: Part }),
    responses: { 200: any, 204: none },
    handler: ({ params, ...call }) => send(call, [params.resource, params.part]),
  });
  routes.get('readODataSuffix', `${ODATA_PATH}/:resource/:part/:suffix`, {
    ...reading,
    summary: 'Read a raw value, a count or references over OData',
    description: 'Of a property: `$value`; of a navigation property: `$count` or `$ref`.',
    params: Type.Object({ resource: First, part: Part, suffix: Part }),
    responses: { 200: any, 204: none },
    handler: ({ params, ...call }) => send(call, [params.resource, params.part, params.suffix]),
  });
}

async function send(
  {
    ctx,
    query: options,
    request,
    reply,
  }: { ctx: Ctx; query: SentOptions; request: FastifyRequest; reply: FastifyReply },
  parts: string[],
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
  const mediaType = `application/json; odata.metadata=${wire.metadata}${exact}; charset=utf-8`;
  reply.header('odata-version', wire.version).header('vary', 'Accept, OData-MaxVersion, Prefer');
  // the conditional plugin adds the ETag of text bodies
  return typeof body === 'string'
    ? reply.header('content-type', mediaType).send(body)
    : sendJsonChunks(reply, body, mediaType);
}
