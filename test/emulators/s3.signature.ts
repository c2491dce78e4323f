import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export type Credentials = { accessKeyId: string; secretAccessKey: string; region: string };

const hex = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** How far the clocks may be apart. */
const SKEW_MS = 15 * 60 * 1000;

/**
 * Checks a request as AWS Signature Version 4 says ("Authenticating Requests: Using the Authorization Header").
 * @returns the code of the refusal, or undefined.
 */
export function signatureFault(request: IncomingMessage, body: Buffer, credentials: Credentials) {
  const { headers, method = 'GET', url = '/' } = request;
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!found) return 'AccessDenied';
  const [, key, day, region, signed, signature] = found as unknown as string[];
  if (key !== credentials.accessKeyId) return 'InvalidAccessKeyId';
  if (region !== credentials.region) return 'AuthorizationHeaderMalformed';
  const moment = String(headers['x-amz-date']);
  const at = Date.parse(moment.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - at) < SKEW_MS) || !moment.startsWith(day!)) return 'RequestTimeTooSkewed';
  const content = String(headers['x-amz-content-sha256']);
  if (content !== 'UNSIGNED-PAYLOAD' && content !== hex(body)) return 'XAmzContentSHA256Mismatch';
  const names = signed!.split(';');
  if (!names.includes('host')) return 'AccessDenied';
  const [path = '/', search = ''] = url.split('?');
  const canonical = [
    method,
    path,
    [...new URLSearchParams(search)]
      .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
      .sort()
      .join('&'),
    ...names.map((name) => `${name}:${String(headers[name] ?? '').trim()}`),
    '',
    signed,
    content,
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', moment, `${day}/${region}/s3/aws4_request`, hex(canonical)].join('\n');
  const signing = ['s3', 'aws4_request'].reduce(
    hmac,
    hmac(hmac(`AWS4${credentials.secretAccessKey}`, day!), region!),
  );
  return hmac(signing, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}
