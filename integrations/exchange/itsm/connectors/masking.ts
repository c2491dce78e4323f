/** Replaces secrets in messages of a remote. */
const MASK = '[cut]';

/** Removes secrets from a text. */
export type Mask = (text: string) => string;

/**
 * Creates a function that removes these secrets from texts, in plain form or encoded as the remote may return them: for URLs, HTML,
 * JSON or base64.
 */
export function maskOf(secrets: readonly (string | undefined)[]): Mask {
  const forms = new Set(secrets.flatMap((secret) => (secret ? formsOf(secret) : [])));
  if (forms.size === 0) return (text) => text;
  // longest first: a shorter secret may be part of a longer one
  const longest = [...forms].sort((left, right) => right.length - left.length);
  const pattern = new RegExp(
    longest.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'),
    'gi',
  );
  return (text) => text.replace(pattern, MASK);
}

/** The secrets in an Authorization header: the whole header, the credentials after the scheme, and the password of Basic. */
export function secretsIn(authorization: string): string[] {
  const [, scheme, token = ''] = /^(\S+)\s+(.+)$/.exec(authorization) ?? [];
  if (token === '') return authorization === '' ? [] : [authorization];
  if (!/^basic$/i.test(scheme!)) return [token];
  const decoded = Buffer.from(token, 'base64').toString('utf8');
  return [token, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}

function formsOf(secret: string): string[] {
  const html = secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  const base64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    html,
    html.replaceAll("'", '&#39;'),
    html.replaceAll("'", '&#039;'),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
}
