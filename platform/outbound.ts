import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { EnvHttpProxyAgent, fetch as guardedFetch, type RequestInit, type Response } from 'undici';

/** An address of a user's that this service does not call; the message is for the user. */
export class OutboundRefusal extends Error {
  override readonly name = 'OutboundRefusal';
}

/** An answer that is longer than the caller takes. */
export class OutboundOverflow extends Error {
  override readonly name = 'OutboundOverflow';
}

export interface OutboundRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** From the first byte sent to the last one read; 30 s unless given. */
  timeoutMs?: number;
  /** More of an answer is not read; 10 MiB unless given. */
  maxBytes?: number;
  /** How many redirects are followed, each checked like the first address; none unless given. */
  redirects?: number;
  signal?: AbortSignal;
}

export interface OutboundAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Calls addresses that users have given. */
export interface Outbound {
  /**
   * Why the address can't be called, as far as it tells by itself, or undefined: anything but https, credentials in it,
   * an address of a range that is not public. Names are resolved, and checked again, at each call.
   */
  refusal(url: string): string | undefined;
  /** @throws OutboundRefusal; Error for whatever goes wrong on the way, time-outs included. */
  request(url: string, request?: OutboundRequest): Promise<OutboundAnswer>;
  /** The same guard for libraries that take a `fetch`; redirects are not followed. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 30_000;
const CONNECT_MS = 10_000;
const MAX_BYTES = 10 * 1024 * 1024;

/** What a remote is known by, and what this service is known by to it; all as PEM. */
export interface OutboundTls {
  /** Authorities to trust instead of the public ones. */
  ca?: string;
  /** A client certificate and its key. */
  cert?: string;
  key?: string;
  passphrase?: string;
}

interface Allowed {
  hosts: Set<string>;
  ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][];
}

/** Reads the entries of OUTBOUND_ALLOW: host names, addresses, and ranges such as 10.0.0.0/8. */
function readAllowed(entries: readonly string[]): Allowed {
  const allowed: Allowed = { hosts: new Set(), ranges: [] };
  for (const entry of entries) {
    if (ipaddr.isValidCIDR(entry)) allowed.ranges.push(ipaddr.parseCIDR(entry));
    else if (ipaddr.isValid(entry)) {
      const address = ipaddr.process(entry);
      allowed.ranges.push([address, address.kind() === 'ipv4' ? 32 : 128]);
    } else allowed.hosts.add(entry.toLowerCase());
  }
  return allowed;
}

function inRange(address: ipaddr.IPv4 | ipaddr.IPv6, ranges: Allowed['ranges']): boolean {
  return ranges.some(([net, bits]) => net.kind() === address.kind() && address.match(net as never, bits));
}

/** Whether an address may be called: public ones, and those that are allowed by name. */
function mayCall(text: string, allowed: Allowed): boolean {
  // an IPv4 address in the clothes of IPv6 is taken for what it is
  const address = ipaddr.process(text);
  return address.range() === 'unicast' || inRange(address, allowed.ranges);
}

/** The host without the brackets of IPv6. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').toLowerCase();

/**
 * Guards calls to addresses that users have given: only https, only public addresses, also behind names and redirects,
 * unless `allow` names the host or the range, for which http is taken too. The very address that was checked is
 * connected to, so that a name cannot change its mind in between. `HTTPS_PROXY` and `NO_PROXY` are honoured; where a proxy resolves the
 * names, it decides what they mean. `tls` holds for all calls of this instance.
 */
export function createOutbound(
  allow: readonly string[],
  resolve: Resolve = lookup,
  tls: OutboundTls = {},
): Outbound {
  const allowed = readAllowed(allow);
  const agent = new EnvHttpProxyAgent({
    requestTls: tls,
    connect: {
      ...tls,
      timeout: CONNECT_MS,
      lookup: (host: string, options: LookupOptions, done: LookupDone) =>
        guardedLookup(resolve, allowed, host, options, done),
    } as never,
  });

  const refusal = (text: string): string | undefined => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || !['https:', 'http:'].includes(url.protocol)) return 'is no https address';
    if (url.username || url.password) return 'must not hold a user name or password';
    const host = hostOf(url);
    const literal = ipaddr.isValid(host);
    const named = allowed.hosts.has(host) || (literal && inRange(ipaddr.process(host), allowed.ranges));
    if (url.protocol === 'http:' && !named) return 'must begin with https://';
    if (!named && (literal ? !mayCall(host, allowed) : isLocalName(host))) {
      return 'leads to an address that is not public; OUTBOUND_ALLOW can allow it';
    }
    return undefined;
  };

  const check = (url: string): void => {
    const reason = refusal(url);
    if (reason !== undefined) throw new OutboundRefusal(`${originOf(url)} ${reason}.`);
  };

  const fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    check(String(url));
    try {
      return await guardedFetch(url, { ...init, redirect: 'manual', dispatcher: agent });
    } catch (error) {
      // what went wrong below stands in the cause
      throw (error as Error).cause instanceof OutboundRefusal ? (error as Error).cause : error;
    }
  };

  return {
    refusal,
    fetch,
    async request(url, request = {}) {
      check(url);
      const timeout = AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS);
      const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout;
      let target = url;
      for (let left = request.redirects ?? 0; ; left -= 1) {
        const sameOrigin = new URL(target).origin === new URL(url).origin;
        const response = await fetch(target, {
          method: request.method ?? 'GET',
          // credentials are for the one they were given for
          headers: sameOrigin ? (request.headers ?? {}) : withoutCredentials(request.headers ?? {}),
          ...(request.body === undefined ? {} : { body: request.body }),
          signal,
        });
        const location = response.headers.get('location');
        if (left > 0 && location !== null && response.status >= 300 && response.status < 400) {
          await response.body?.cancel();
          target = new URL(location, target).href;
          continue;
        }
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: await readLimited(response, request.maxBytes ?? MAX_BYTES),
        };
      }
    },
    close: () => agent.close(),
  };
}

/** As `dns.lookup` with all addresses. */
export type Resolve = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

type LookupDone = (error: Error | null, address?: string | LookupAddress[], family?: number) => void;

function guardedLookup(
  resolve: Resolve,
  allowed: Allowed,
  host: string,
  options: LookupOptions,
  done: LookupDone,
): void {
  resolve(host, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error);
    const named = allowed.hosts.has(host.toLowerCase());
    if (!named && addresses.some(({ address }) => !mayCall(address, allowed))) {
      return done(new OutboundRefusal(`${host} leads to an address that is not public.`));
    }
    if (options.all) return done(null, addresses);
    done(null, addresses[0]!.address, addresses[0]!.family);
  });
}

/** Names that never leave the machine or the local network (RFC 6761, RFC 6762, RFC 9476). */
function isLocalName(host: string): boolean {
  return (
    !host.includes('.') || /(^|\.)(localhost|local|internal|home\.arpa|invalid|test|onion)\.?$/.test(host)
  );
}

function withoutCredentials(headers: Record<string, string>): Record<string, string> {
  const secret = /^(authorization|cookie|proxy-authorization|x-api-key)$/i;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secret.test(name)));
}

/** What may be told of an address: not its path or query, which may hold secrets. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'The address';
}

async function readLimited(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (!response.body) return Buffer.alloc(0);
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw new OutboundOverflow(`the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
