import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { once } from 'node:events';
import { connect as netConnect, type Socket } from 'node:net';
import {
  buildConnector,
  EnvHttpProxyAgent,
  fetch as guardedFetch,
  type RequestInit,
  type Response,
} from 'undici';
import {
  type AllowedEntry,
  isNamed as isNamedBy,
  mayConnect,
  readAllowed,
  refusalBeforeResolving,
  type Target,
} from './outbound.rules.ts';

/** An address from a user that this service does not connect to; the message is for the user. */
export class OutboundRefusal extends Error {
  override readonly name = 'OutboundRefusal';
}

/** A response that exceeds the caller's limit. */
export class OutboundOverflow extends Error {
  override readonly name = 'OutboundOverflow';
}

interface OutboundRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** From the first byte sent to the last one read; 30 s unless given. */
  timeoutMs?: number;
  /** Maximum size of a response; 10 MiB by default. */
  maxBytes?: number;
  /** How many redirects are followed, each checked like the first address; none unless given. */
  redirects?: number;
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Where a connection without HTTP goes. */
interface SocketAddress {
  host: string;
  port: number;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Sends requests to addresses from users. */
export interface Outbound {
  /**
   * Why the address can't be called, as far as the address itself shows, or undefined: anything but https on port 443,
   * credentials in it, an address of a range that is not public. Names are resolved, and checked again, at each call.
   */
  refusal(url: string): string | undefined;
  /** Whether OUTBOUND_ALLOW names the host and the port of a valid address. */
  isNamed(url: string): boolean;
  /** The same for a mail server, which has the ports 25, 465 and 587. */
  mailRefusal(host: string, port: number): string | undefined;
  /** @throws OutboundRefusal; Error for whatever goes wrong on the way, time-outs included. */
  request(url: string, request?: OutboundRequest): Promise<OutboundResponse>;
  /** The same guard for libraries that take a `fetch`; redirects are not followed. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /**
   * Connects to a mail server, whose TLS is the caller's matter.
   * @throws OutboundRefusal; Error for whatever goes wrong on the way; the signal's reason.
   */
  connectMail(server: SocketAddress): Promise<Socket>;
  /** As `mailRefusal`, for an SFTP server, which has port 22. */
  sftpRefusal(host: string, port: number): string | undefined;
  /** As `connectMail`, to an SFTP server. */
  connectSftp(server: SocketAddress): Promise<Socket>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 30_000;
const CONNECT_MS = 10_000;
const MAX_BYTES = 10 * 1024 * 1024;
/** Hosts whose TLS sessions are kept. */
const MAX_CONNECTORS = 200;

/** What a remote is known by, and what this service is known by to it; all as PEM. */
export interface OutboundTls {
  /** Authorities to trust instead of the public ones. */
  ca?: string;
  /** A client certificate and its key. */
  cert?: string;
  key?: string;
  passphrase?: string;
}

/** How an instance differs from the usual one. */
export interface OutboundOptions {
  /** As `dns.lookup`, unless given. */
  resolve?: Resolve;
  /** Holds for all calls of this instance. */
  tls?: OutboundTls;
  /** Logs the details of failed connections, which are not shown to users. */
  log?: { info(details: object, message: string): void };
}

const usualPorts: Record<string, readonly number[]> = { 'https:': [443], 'http:': [80] };
/** Relay, implicit TLS (RFC 8314) and submission (RFC 6409). */
const MAIL_PORTS = [25, 465, 587];
const SFTP_PORTS = [22];

function targetOf(url: URL): Target {
  const usual = usualPorts[url.protocol]!;
  const port = url.port === '' ? usual[0]! : Number(url.port);
  return { host: bareHost(url.hostname), port, usual, plain: url.protocol === 'http:' };
}

/** Without the brackets of IPv6. */
const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase();

/**
 * Guards connections to addresses that users have given: only https on port 443 (mail and SFTP on their ports), only public
 * addresses, also behind names and redirects, unless `allow` names the host or the range, and any other port. A host
 * that is named is called by http too. The very address that was checked is connected to, so that a name cannot
 * resolve differently in between. `HTTPS_PROXY` and `NO_PROXY` are honoured; where a proxy resolves the names, it decides
 * what they mean.
 * @throws Error for an entry of `allow` that cannot be read.
 */
export function createOutbound(
  allow: readonly string[],
  { resolve = lookup, tls = {}, log }: OutboundOptions = {},
): Outbound {
  const allowed = allow.map((entry) => {
    const read = readAllowed(entry);
    if (!read) throw new Error(`"${entry}" is no host, address or range`);
    return read;
  });
  const lookupFor = (target: Target) => (host: string, options: LookupOptions, done: LookupDone) =>
    guardedLookup(resolve, allowed, target, host, options, done);
  const connectors = new Map<string, buildConnector.connector>();
  const connect: buildConnector.connector = (options, done) => {
    // the guard asks for the port, which a lookup is not given; a connector keeps its TLS sessions
    const { protocol, port, hostname } = options;
    const target = targetOf(new URL(`${protocol}//${hostname}${port ? `:${port}` : ''}`));
    const key = `${protocol}${target.host}:${target.port}`;
    let connector = connectors.get(key);
    if (!connector) {
      if (connectors.size >= MAX_CONNECTORS) connectors.delete(connectors.keys().next().value!);
      connector = buildConnector({ ...tls, timeout: CONNECT_MS, lookup: lookupFor(target) } as never);
      connectors.set(key, connector);
    }
    connector(options, done);
  };
  const agent = new EnvHttpProxyAgent({ requestTls: tls, connect } as never);

  const refusal = (text: string): string | undefined => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || !['https:', 'http:'].includes(url.protocol)) return 'is no https address';
    if (url.username || url.password) return 'must not hold a user name or password';
    return refusalBeforeResolving(allowed, targetOf(url));
  };

  const isNamed = (text: string): boolean => isNamedBy(allowed, targetOf(new URL(text)));

  const noteFailure = (address: string, error: unknown): void => {
    const { message, code } = ((error as Error).cause ?? error) as { message?: string; code?: unknown };
    log?.info({ address, code, cause: message }, 'an outgoing connection failed');
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
      // the error of the connection is the cause
      if ((error as Error).cause instanceof OutboundRefusal) throw (error as Error).cause;
      const shown = isInvalidRequest(error) ? new TypeError('The request cannot be sent as it is.') : error;
      noteFailure(originOf(String(url)), shown);
      throw shown;
    }
  };

  /** The guard of connections without HTTP, to a kind of server with its usual ports. */
  const socketsTo = (usual: readonly number[]) => {
    const targetOn = (host: string, port: number): Target => ({
      host: bareHost(host),
      port,
      usual,
      plain: false,
    });
    return {
      refusal: (host: string, port: number) => refusalBeforeResolving(allowed, targetOn(host, port)),
      async connect({ host: given, port, timeoutMs, signal }: SocketAddress): Promise<Socket> {
        const target = targetOn(given, port);
        const { host } = target;
        const reason = refusalBeforeResolving(allowed, target);
        if (reason !== undefined) throw new OutboundRefusal(`${host}:${port} ${reason}.`);
        const timeout = AbortSignal.timeout(timeoutMs);
        const socket = netConnect({ host, port, lookup: lookupFor(target) as never });
        try {
          await once(socket, 'connect', { signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
          return socket;
        } catch (error) {
          socket.on('error', () => undefined).destroy();
          signal?.throwIfAborted();
          if (!(error instanceof OutboundRefusal)) noteFailure(`${host}:${port}`, error);
          throw error;
        }
      },
    };
  };
  const mail = socketsTo(MAIL_PORTS);
  const sftp = socketsTo(SFTP_PORTS);

  return {
    refusal,
    isNamed,
    mailRefusal: mail.refusal,
    fetch,
    connectMail: mail.connect,
    sftpRefusal: sftp.refusal,
    connectSftp: sftp.connect,
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
  allowed: readonly AllowedEntry[],
  target: Target,
  host: string,
  options: LookupOptions,
  done: LookupDone,
): void {
  resolve(host, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error);
    const all = addresses.map(({ address }) => address);
    if (!mayConnect(allowed, target, all)) {
      const message = `${host} leads to an address that is not public, or to a port that is not allowed.`;
      return done(new OutboundRefusal(message));
    }
    if (options.all) return done(null, addresses);
    done(null, addresses[0]!.address, addresses[0]!.family);
  });
}

function withoutCredentials(headers: Record<string, string>): Record<string, string> {
  const secret = /^(authorization|cookie|proxy-authorization|x-api-key)$/i;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secret.test(name)));
}

/** Whether a request was refused before it was sent. The message of such an error quotes headers, which may be secrets. */
const isInvalidRequest = (error: unknown): boolean => error instanceof TypeError && error.cause === undefined;

/** What may be logged of an address: not its path or query, which may hold secrets. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'The address';
}

const sizeOf = (bytes: number): string =>
  bytes >= 2 ** 20 ? `${Math.floor(bytes / 2 ** 20)} MiB` : `${bytes} bytes`;

async function readLimited(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (!response.body) return Buffer.alloc(0);
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw new OutboundOverflow(`it is longer than ${sizeOf(maxBytes)}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
