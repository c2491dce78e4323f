import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { EstateError } from '../../../platform/errors.ts';
import { invalidQuery } from '../../../reports/exchange/odata/odata.errors.ts';
import type { MetadataLevel, Wire } from '../../../reports/exchange/odata/odata.wire.ts';

/** Where the service stands. */
export const ODATA_PATH = '/odata/v4';

/** The protocol's version that the client understands, as far as its header can be read. */
export function understoodVersion(headers: IncomingHttpHeaders): Wire['version'] {
  return /^\s*4\.0+\s*$/.test(String(headers['odata-maxversion'] ?? '')) ? '4.0' : '4.01';
}

/** The address of the service as the client knows it. */
export const rootOf = (request: FastifyRequest): string =>
  `${request.protocol}://${request.host}${ODATA_PATH}`;

/**
 * Checks the headers that must be followed or refused (OData protocol, 8.2).
 * @throws EstateError `odata_invalid_query` for a version before 4.0, `precondition_failed` where a snapshot is asked for.
 */
export function checkHeaders({ headers }: FastifyRequest): void {
  const most = headers['odata-maxversion'];
  const [, major] = /^\s*(\d{1,3})\.\d{1,3}\s*(?:;|$)/.exec(String(most ?? '4.01')) ?? [];
  if (major === undefined || Number(major) < 4) {
    throw invalidQuery('OData-MaxVersion', 'answers are of version 4.0 or 4.01');
  }
  if (headers.isolation !== undefined || headers['odata-isolation'] !== undefined) {
    throw new EstateError(
      'precondition_failed',
      'Isolation: snapshots over several requests are not offered.',
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

/** What is asked for by `$format`, or else by `Accept`; the best comes first. */
function asked(request: FastifyRequest, format: string | undefined): MediaRange[] {
  if (format !== undefined) return mediaRanges(shortForms.get(format.trim().toLowerCase()) ?? format);
  const header = request.headers.accept;
  return header === undefined || header.trim() === '' ? mediaRanges('*/*') : mediaRanges(header);
}

const unacceptable = (offered: string): EstateError =>
  new EstateError('not_acceptable', `Answers are ${offered}.`);

/** In which form data go out. @throws EstateError `not_acceptable` when the client does not take JSON. */
export function wireOf(request: FastifyRequest, format: string | undefined): Wire {
  const range = asked(request, format).find(({ type }) =>
    ['application/json', 'application/*', '*/*'].includes(type),
  );
  if (!range) throw unacceptable('application/json');
  const level = range.parameters.get('metadata') ?? 'minimal';
  if (!['none', 'minimal', 'full'].includes(level))
    throw unacceptable('application/json with metadata none, minimal or full');
  return {
    root: rootOf(request),
    version: understoodVersion(request.headers),
    metadata: level as MetadataLevel,
    exactNumbers: range.parameters.get('ieee754compatible') === 'true',
  };
}

/** In which form the metadata document goes out. @throws EstateError `not_acceptable`. */
export function metadataForm(request: FastifyRequest, format: string | undefined): 'xml' | 'json' {
  for (const { type } of asked(request, format)) {
    if (['application/xml', 'application/*', '*/*', 'text/xml'].includes(type)) return 'xml';
    if (type === 'application/json') return 'json';
  }
  throw unacceptable('application/xml or application/json');
}

/** Whether a text may go out. @throws EstateError `not_acceptable`. */
export function checkTextAccepted(request: FastifyRequest, format: string | undefined): void {
  const taken = asked(request, format).some(({ type }) =>
    ['text/plain', 'text/*', '*/*', 'application/json'].includes(type),
  );
  if (!taken) throw unacceptable('text/plain');
}

/** What the client prefers (RFC 7240), with and without the prefix of version 4.0. */
export function preferences(request: FastifyRequest): {
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
  // a preference that cannot be followed is passed over
  const maxPageSize = size !== undefined && /^[1-9]\d{0,8}$/.test(size) ? Number(size) : undefined;
  return { maxPageSize, trackChanges: given.has('track-changes') };
}
