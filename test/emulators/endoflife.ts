import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { serveOnLoopback } from '../support/loopback.ts';

/** A release of a product, as version 1 of the API describes it; absent members get values that fit. */
interface EmulatedRelease {
  name: string;
  [member: string]: unknown;
}

export interface EmulatedProduct {
  name: string;
  label?: string;
  category?: string;
  aliases?: string[];
  releases: EmulatedRelease[];
  /** RFC 9110 date of the last change. */
  lastModified?: string;
}

/** What is done with a request instead of answering it as documented. */
type Fault =
  | 'hang'
  | 'cut'
  | 'nonsense'
  | number
  | { status: number; retryAfter: string | number }
  | { redirect: string };

interface Asked {
  path: string;
  headers: IncomingHttpHeaders;
  status: number;
}

export interface EndOfLifeEmulator {
  /** The address of version 1. */
  url: string;
  products: Map<string, EmulatedProduct>;
  /** Every request in the order of arrival, with the status it was answered with; 0 without an answer. */
  asked: Asked[];
  /** Decides on faults by path below the address, such as `/products/python`; undefined answers as documented. */
  fault: (path: string, count: number) => Fault | undefined;
  close(): Promise<void>;
}

const release = (given: EmulatedRelease) => ({
  codename: null,
  label: given.name,
  releaseDate: '2020-01-01',
  isLts: false,
  ltsFrom: null,
  isEol: false,
  eolFrom: null,
  isMaintained: true,
  latest: null,
  custom: null,
  ...given,
});

const summary = ({ name, label, category, aliases }: EmulatedProduct) => ({
  name,
  label: label ?? name,
  aliases: aliases ?? [],
  category: category ?? 'app',
  tags: [category ?? 'app'],
});

/** The public endoflife.date API, version 1: the list, one product, conditional requests, and its documented errors. */
export async function startEndOfLife(products: EmulatedProduct[]): Promise<EndOfLifeEmulator> {
  const documentOf = (path: string): { content: object; lastModified: string | undefined } | undefined => {
    const all = [...emulator.products.values()];
    if (path === '/products') {
      const result = all.map((product) => ({
        ...summary(product),
        uri: `${emulator.url}/products/${product.name}`,
      }));
      return { content: { schema_version: '1.2.0', total: all.length, result }, lastModified: undefined };
    }
    const product = emulator.products.get(decodeURIComponent(path.replace(/^\/products\//, '')));
    if (!path.startsWith('/products/') || !product) return undefined;
    const result = {
      ...summary(product),
      versionCommand: null,
      identifiers: [],
      labels: { eoas: null, discontinued: null, eol: 'Security support', eoes: null },
      links: { icon: null, html: `https://endoflife.date/${product.name}`, releasePolicy: null },
      releases: product.releases.map(release),
    };
    const content = { schema_version: '1.2.0', last_modified: '2026-01-01T00:00:00+00:00', result };
    return { content, lastModified: product.lastModified };
  };

  const { origin, close } = await serveOnLoopback((request, response) => {
    const path = new URL(request.url!, 'http://emulator').pathname
      .replace(/^\/api\/v1/, '')
      .replace(/\/$/, '');
    const asked: Asked = { path, headers: request.headers, status: 0 };
    emulator.asked.push(asked);
    const answer = (status: number, headers: Record<string, string> = {}, body = '') => {
      asked.status = status;
      response.writeHead(status, headers).end(body);
    };
    const fault = emulator.fault(path, emulator.asked.filter((one) => one.path === path).length);
    if (fault === 'hang') return;
    if (fault === 'cut') return void request.socket.destroy();
    if (fault === 'nonsense') return answer(200, { 'content-type': 'application/json' }, '{"result":');
    if (typeof fault === 'number') return answer(fault);
    if (fault && 'redirect' in fault) return answer(301, { location: fault.redirect });
    if (fault) return answer(fault.status, { 'retry-after': String(fault.retryAfter) });
    const document = documentOf(path);
    if (!document) return answer(404, { 'content-type': 'text/html' }, '<h1>Not found</h1>');
    const body = JSON.stringify(document.content);
    const etag = `"${createHash('sha1').update(body).digest('hex')}-ssl"`;
    const { 'if-none-match': seen, 'if-modified-since': since } = request.headers;
    const headers = {
      etag,
      'cache-control': 'public,max-age=0,must-revalidate',
      ...(document.lastModified ? { 'last-modified': document.lastModified } : {}),
    };
    // RFC 9110, 13.2.2: a date counts only without tags
    const unchanged =
      seen !== undefined ? seen === etag : since !== undefined && since === document.lastModified;
    if (unchanged) return answer(304, headers);
    answer(200, { ...headers, 'content-type': 'application/json' }, body);
  });
  const emulator: EndOfLifeEmulator = {
    url: `${origin}/api/v1`,
    products: new Map(products.map((product) => [product.name, product])),
    asked: [],
    fault: () => undefined,
    close,
  };
  return emulator;
}
