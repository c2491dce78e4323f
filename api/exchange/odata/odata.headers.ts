import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { EstateError } from '../../../platform/errors.ts';
import { invalidQuery } from '../../../reports/exchange/odata/odata.errors.ts';
import type { MetadataLevel, Wire } from '../../../reports/exchange/odata/odata.wire.ts';

/** The path of the OData service. */
export const ODATA_PATH = '/odata/v4';

/** The highest protocol version that the client supports; 4.01 if the header is missing or invalid. */
export function clientVersion(headers: IncomingHttpHeaders): Wire['version'] {
  return /^\s*4\.0+\s*$/.test(String(headers['odata-maxversion'] ?? '')) ? '4.0' : '4.01';
}

/** The service root URL as the client sees it. */
export const serviceRoot = (request: FastifyRequest): string =>
  `${request.protocol}://${request.host}${ODATA_PATH}`;

/**
 * Checks the headers that must be followed or refused (OData protocol, 8.2).
 * @throws EstateError `odata_invalid_query` for a version before 4.0, `precondition_failed` if snapshot isolation is requested.
 */
export function checkHeaders({ headers }: FastifyRequest): void {
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
export function negotiateWire(request: FastifyRequest, format: string | undefined): Wire {
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
export function metadataForm(request: FastifyRequest, format: string | undefined): 'xml' | 'json' {
  for (const { type } of acceptedRanges(request, format)) {
    if (['application/xml', 'application/*', '*/*', 'text/xml'].includes(type)) return 'xml';
    if (type === 'application/json') return 'json';
  }
  throw notAcceptable('application/xml or application/json');
}

/** Checks that the client accepts plain text. @throws EstateError `not_acceptable`. */
export function checkTextAccepted(request: FastifyRequest, format: string | undefined): void {
  const isAccepted = acceptedRanges(request, format).some(({ type }) =>
    ['text/plain', 'text/*', '*/*', 'application/json'].includes(type),
  );
  if (!isAccepted) throw notAcceptable('text/plain');
}

/** Reads the client's preferences (RFC 7240), with or without the `odata.` prefix of version 4.0. */
export function readPreferences(request: FastifyRequest): {
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
