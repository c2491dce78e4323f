import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { FieldError } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import type { ConnectionKindRules } from './connections.kinds.ts';
import type { ConnectionSecrets, ConnectionSettings } from './connections.types.ts';

/** The address as the guard of outgoing calls takes it, in the form that the kind of connection needs. */
export function addressFault(
  outbound: Outbound,
  address: string,
  form: ConnectionKindRules['address'],
): FieldError[] {
  const field = 'instance_url';
  const refusal = outbound.refusal(address);
  if (refusal !== undefined) return [{ field, code: 'refused_address', message: refusal }];
  const { origin, pathname } = new URL(address);
  const plain = form === 'host' ? origin : `${origin}${pathname}`.replace(/\/+$/, '');
  if (form === 'path' && plain.toLowerCase() !== address.toLowerCase()) {
    return [
      { field, code: 'format', message: `must be a scheme, a host and a path alone, such as ${plain}` },
    ];
  }
  if (form === 'host' && origin !== address.toLowerCase()) {
    return [{ field, code: 'format', message: `must be a scheme and a host alone, such as ${origin}` }];
  }
  return [];
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Faults of the authorities, and of the client certificate and its key. */
export function certificateFaults(
  { ca, client_certificate: certificate }: ConnectionSettings,
  { client_key: key }: ConnectionSecrets,
): FieldError[] {
  const faults: FieldError[] = [];
  if (ca !== null && !readCertificates(ca)) {
    faults.push({ field: 'ca', code: 'format', message: 'holds no certificates as PEM' });
  }
  const own = certificate === null ? undefined : readCertificates(certificate);
  if (certificate !== null && !own) {
    faults.push({ field: 'client_certificate', code: 'format', message: 'is no certificate as PEM' });
  }
  if (key !== undefined && certificate === null) {
    faults.push({ field: 'client_certificate', code: 'required', message: 'is needed with its key' });
  }
  if (certificate !== null && key === undefined) {
    faults.push({ field: 'client_key', code: 'required', message: 'is needed with its certificate' });
  }
  if (own && key !== undefined) faults.push(...keyFaults(own[0]!, key));
  return faults;
}

function readCertificates(text: string): X509Certificate[] | undefined {
  try {
    const read = (text.match(PEM) ?? []).map((one) => new X509Certificate(one));
    return read.length > 0 ? read : undefined;
  } catch {
    return undefined;
  }
}

function keyFaults(certificate: X509Certificate, key: string): FieldError[] {
  const field = 'client_key';
  try {
    if (certificate.checkPrivateKey(createPrivateKey(key))) return [];
    return [{ field, code: 'format', message: 'is not the key of client_certificate' }];
  } catch {
    return [{ field, code: 'format', message: 'is no private key as PEM without a passphrase' }];
  }
}
