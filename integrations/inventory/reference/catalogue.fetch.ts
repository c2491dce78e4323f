import { Value } from 'typebox/value';
import type { CatalogueDocument } from '../../../domain/inventory/reference/reference.catalogues.ts';
import { documentMembers } from '../../../domain/inventory/reference/reference.document.ts';
import { partialObject } from '../../../domain/kernel/shapes.ts';
import { appVersion } from '../../../domain/kernel/version.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { type Outbound, OutboundOverflow, OutboundRefusal } from '../../../platform/outbound.ts';

const MAX_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

const Published = partialObject(documentMembers);

/**
 * Reads a published catalogue: the JSON document that the operation to load one takes.
 * @throws EstateError `validation_failed` for a refused address or another document, `upstream_failed`.
 */
export async function fetchCatalogue(
  outbound: Outbound,
  url: string,
  timeoutMs: number = TIMEOUT_MS,
): Promise<CatalogueDocument> {
  const document = await readJson(outbound, url, timeoutMs);
  if (Value.Check(Published, document)) return { ...document, url } as CatalogueDocument;
  const [error] = Value.Errors(Published, document);
  const at = error?.instancePath.slice(1).replaceAll('/', '.') || 'the document';
  throw invalidField('url', 'bad_document', `has no catalogue: ${at} ${error?.message ?? 'does not fit'}`);
}

async function readJson(outbound: Outbound, url: string, timeoutMs: number): Promise<unknown> {
  const refusal = outbound.refusal(url);
  if (refusal !== undefined) throw invalidField('url', 'address_refused', refusal);
  try {
    const { status, body } = await outbound.request(url, {
      headers: { accept: 'application/json', 'user-agent': `Estate/${appVersion}` },
      timeoutMs,
      maxBytes: MAX_BYTES,
      redirects: 2,
    });
    if (status !== 200) throw failed(`The address of the catalogue responds with ${status}.`);
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    if (error instanceof EstateError) throw error;
    if (error instanceof OutboundRefusal) throw invalidField('url', 'address_refused', error.message);
    if (error instanceof OutboundOverflow) throw failed('The catalogue is larger than 32 MiB.');
    if (error instanceof SyntaxError) throw invalidField('url', 'bad_document', 'has no JSON document');
    throw failed(
      (error as Error).name === 'TimeoutError'
        ? 'The address of the catalogue does not respond in time.'
        : 'The address of the catalogue cannot be reached.',
    );
  }
}

const failed = (message: string): EstateError => new EstateError('upstream_failed', message);
