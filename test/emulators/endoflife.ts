import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type CommonFault, type Reaction, type Received, reactionTo, serveResponses } from './http.ts';

/** A release of a product, as version 1 of the API describes it; absent members get values that fit. */
type EmulatedRelease = { name: string; [member: string]: unknown };

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
type Fault = CommonFault | 'nonsense' | { redirect: string };

type Asked = { path: string; headers: IncomingHttpHeaders; status: number };

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

  const answer = (path: string, { headers }: Received): Reaction => {
    const fault = emulator.fault(path, emulator.asked.filter((one) => one.path === path).length);
    if (fault === 'nonsense') return { status: 200, body: '{"result":' };
    if (typeof fault === 'object' && 'redirect' in fault)
      return { status: 301, headers: { location: fault.redirect } };
    if (fault) return reactionTo(fault);
    const document = documentOf(path);
    if (!document)
      return { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not found</h1>' };
    const { content, lastModified } = document;
    const body = JSON.stringify(content);
    const etag = `"${createHash('sha1').update(body).digest('hex')}-ssl"`;
    const { 'if-none-match': seen, 'if-modified-since': since } = headers;
    const own = {
      etag,
      'cache-control': 'public,max-age=0,must-revalidate',
      ...(lastModified ? { 'last-modified': lastModified } : {}),
    };
    // RFC 9110, 13.2.2: a date counts only without tags
    const isSame = seen !== undefined ? seen === etag : since !== undefined && since === lastModified;
    return isSame ? { status: 304, headers: own } : { status: 200, headers: own, body };
  };

  const { origin, close } = await serveResponses((received) => {
    const path = received.url.pathname.replace(/^\/api\/v1/, '').replace(/\/$/, '');
    const asked: Asked = { path, headers: received.headers, status: 0 };
    emulator.asked.push(asked);
    const reaction = answer(path, received);
    if (typeof reaction === 'object') asked.status = reaction.status;
    return reaction;
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
