import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** An entry of OUTBOUND_ALLOW: a host name or a range, and the port that it names. */
export interface AllowedEntry {
  of: string | Range;
  /** Undefined: the ports that the protocol always uses. */
  port: number | '*' | undefined;
}

/** Where a connection goes. */
export interface Target {
  /** A name or an address, in lower case and without brackets. */
  host: string;
  port: number;
  /** Ports of the protocol that need no entry. */
  usual: readonly number[];
  /** Whether the protocol carries secrets in clear, so that it needs an entry that names the host. */
  plain: boolean;
}

/** Reads one entry: `host`, `10.0.0.0/8`, `fd00::1`, each with `:port` or `:*` behind (IPv6 then in brackets). */
export function readAllowed(entry: string): AllowedEntry | undefined {
  const [, bracketed, named, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}|\*))?$/.exec(entry) ?? [];
  const of = readHost(bracketed ?? named ?? entry, bracketed !== undefined || named === undefined);
  const number = port === undefined || port === '*' ? port : Number(port);
  if (of === undefined || (typeof number === 'number' && (number < 1 || number > 65_535))) return undefined;
  return { of, port: number as AllowedEntry['port'] };
}

function readHost(text: string, isAddress: boolean): AllowedEntry['of'] | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (ipaddr.isValid(text)) {
    const address = ipaddr.process(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  return !isAddress && /^[a-z0-9_.-]+$/i.test(text) ? text.toLowerCase() : undefined;
}

/**
 * Whether the address is one of the public internet. Of IPv6 only 2000::/3 is (RFC 4291), without the ranges that carry
 * an IPv4 address.
 */
function isPublic(text: string): boolean {
  // an IPv4-mapped address is the IPv4 address
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(ipaddr.parseCIDR('2000::/3') as never);
}

/** Names that never leave the machine or the local network (RFC 6761, RFC 6762, RFC 9476). */
const isLocalName = (host: string): boolean =>
  !host.includes('.') || /(^|\.)(localhost|local|internal|home\.arpa|invalid|test|onion)\.?$/.test(host);

const coversPort = ({ port }: AllowedEntry, target: Target): boolean =>
  port === '*' || (port === undefined ? target.usual.includes(target.port) : port === target.port);

function coversAddress({ of }: AllowedEntry, text: string): boolean {
  if (typeof of === 'string') return false;
  const address = ipaddr.process(text);
  return of[0].kind() === address.kind() && address.match(of as never);
}

/** Whether an entry names the host itself: by its name, or by a range that its address lies in. */
const namesHost = (entry: AllowedEntry, host: string): boolean =>
  entry.of === host || (ipaddr.isValid(host) && coversAddress(entry, host));

/** Whether an entry names host and port. */
export const isNamed = (allowed: readonly AllowedEntry[], target: Target): boolean =>
  allowed.some((entry) => namesHost(entry, target.host) && coversPort(entry, target));

/** Why a connection is refused as far as the target reports before its name is resolved, or undefined. */
export function refusalBeforeResolving(allowed: readonly AllowedEntry[], target: Target): string | undefined {
  if (isNamed(allowed, target)) return undefined;
  const isAddress = ipaddr.isValid(target.host);
  if (!target.usual.includes(target.port)) {
    const byRange =
      !isAddress && allowed.some((entry) => typeof entry.of !== 'string' && coversPort(entry, target));
    if (!byRange) return `uses port ${target.port}; OUTBOUND_ALLOW can allow it as host:port`;
  }
  if (target.plain) return 'must begin with https://';
  if (isAddress ? !isPublic(target.host) : isLocalName(target.host)) {
    return 'leads to an address that is not public; OUTBOUND_ALLOW can allow it';
  }
  return undefined;
}

/** Whether all addresses that a name resolves to may be connected to. */
export function mayConnect(
  allowed: readonly AllowedEntry[],
  target: Target,
  addresses: readonly string[],
): boolean {
  if (isNamed(allowed, target)) return true;
  const isUsual = target.usual.includes(target.port);
  return addresses.every(
    (address) =>
      (isUsual && isPublic(address)) ||
      allowed.some((entry) => coversAddress(entry, address) && coversPort(entry, target)),
  );
}

/** Returns a check of whether an address is in one of the given addresses and ranges, such as `10.0.0.0/8`. */
export function addressMatcher(entries: readonly string[]): (address: string) => boolean {
  const ranges = entries.map((entry): [ipaddr.IPv4 | ipaddr.IPv6, number] => {
    if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
    const address = ipaddr.process(entry);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  });
  return (text) => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
  };
}

/**
 * The client that an address counts as: an IPv4 address, or the /64 network of an IPv6 address, since one host can use
 * all addresses of it. IPv4-mapped addresses count as IPv4; other text counts as itself.
 */
export function clientOf(text: string): string {
  const bare = text.split('%')[0]!;
  if (!ipaddr.isValid(bare)) return text;
  const address = ipaddr.process(bare);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const groups = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${groups.join(':')}::/64`;
}

/** Codes of connection errors after which nothing was sent: no connection was made. */
export const notConnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
