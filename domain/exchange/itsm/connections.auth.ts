import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { type FieldError, fieldError } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import { Choice, FilledText, keyed, object, optional } from '../../kernel/shapes.ts';

const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const;
/** How an assertion is signed (RFC 7518, RFC 8037). */
export type SigningAlgorithm = (typeof algorithms)[number];

// RFC 6749, 3.3: the members of a scope
const scopePattern = '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+( [\\x21\\x23-\\x5b\\x5d-\\x7e]+)*$';

export const OAuthClient = object(
  {
    token_url: FilledText(500, 'The address of the token endpoint'),
    client_auth: Choice(
      ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
      'How the client authenticates at the token endpoint: with its secret in the header or in the form, or with an assertion that `private_key` signs (RFC 7523)',
    ),
    ...optional({
      scope: Type.String({ maxLength: 1000, pattern: scopePattern, description: 'The requested scopes' }),
      parameters: keyed(50, Type.String({ maxLength: 1000 }), {
        maxProperties: 10,
        description:
          'Further parameters of the token request, such as `audience`; shown with the connection, so they must not be secret',
      }),
      algorithm: Choice(
        algorithms,
        'For private_key_jwt: how assertions are signed; default: RS256, ES256, ES384 or EdDSA by the kind of key',
      ),
      key_id: Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'For private_key_jwt: the id of the key, sent as `kid`',
      }),
      assertion_audience: Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'For private_key_jwt: the audience of assertions; default: `token_url`',
      }),
      certificate: Type.String({
        minLength: 1,
        maxLength: 20_000,
        description:
          'For private_key_jwt: the certificate of the key, as PEM; its thumbprint is sent as `x5t#S256`',
      }),
    }),
  },
  {
    description:
      'For http with oauth2: the client at its authorization server. A change replaces all members',
  },
);
/** A client of an authorization server, without its secret. */
export type OAuthClient = Static<typeof OAuthClient>;

/** Headers that HTTP itself uses (RFC 9110). */
export const protocolHeader =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept|user-agent|cookie|proxy-.*)$/i;

export const ApiKeyPlace = object(
  {
    in: Choice(['header', 'query']),
    name: Type.String({
      pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$",
      examples: ['X-Api-Key'],
      description: 'The name of the header or parameter',
    }),
    prefix: Type.Optional(
      Type.String({
        pattern: '^[\\x21-\\x7e]{1,50}$',
        examples: ['SSWS'],
        description: 'For header: what stands before the key, separated by a space',
      }),
    ),
  },
  { description: 'For http with api_key: where `token` is sent' },
);
export type ApiKeyPlace = Static<typeof ApiKeyPlace>;

/** Whether a secret can be sent in a header: visible ASCII, with spaces only between. */
export const fitsHeader = (secret: string): boolean => /^[\x21-\x7e]+( +[\x21-\x7e]+)*$/.test(secret);

/** Errors of the place of an API key. */
export function apiKeyErrors({ in: place, name, prefix }: ApiKeyPlace): FieldError[] {
  if (place === 'query' && prefix !== undefined)
    return [fieldError('api_key.prefix', 'not_offered', 'is only for header')];
  if (place === 'header' && protocolHeader.test(name))
    return [fieldError('api_key.name', 'not_offered', 'is a header that HTTP itself uses')];
  return [];
}

/** The members of the token request that the service sets itself. */
const ownParameters =
  /^(grant_type|scope|client_id|client_secret|client_assertion|client_assertion_type|password|refresh_token)$/;

/** Errors of an OAuth client. @param privateKey undefined if it is missing, which is reported elsewhere. */
export function oauthErrors(
  outbound: Outbound,
  client: OAuthClient,
  privateKey: string | undefined,
): FieldError[] {
  const { token_url, client_auth, parameters = {}, algorithm, certificate } = client;
  const refusal = outbound.refusal(token_url);
  const errors: FieldError[] =
    refusal === undefined ? [] : [fieldError('oauth.token_url', 'refused_address', refusal)];
  for (const name of Object.keys(parameters)) {
    if (ownParameters.test(name))
      errors.push(fieldError(`oauth.parameters.${name}`, 'not_offered', 'is set by the service'));
  }
  if (client_auth !== 'private_key_jwt') {
    for (const member of ['algorithm', 'key_id', 'assertion_audience', 'certificate'] as const) {
      if (client[member] !== undefined)
        errors.push(fieldError(`oauth.${member}`, 'not_offered', 'is only for private_key_jwt'));
    }
    return errors;
  }
  if (privateKey === undefined) return errors;
  const key = readPrivateKey(privateKey);
  const possible = key && algorithmsOf(key);
  if (!key || !possible) {
    const message = 'is not a PEM private key (RSA, P-256, P-384 or Ed25519) without a passphrase';
    return [...errors, fieldError('private_key', 'format', message)];
  }
  if (algorithm !== undefined && !possible.includes(algorithm))
    errors.push(
      fieldError('oauth.algorithm', 'not_offered', `is not for this key; ${possible.join(', ')} is`),
    );
  if (certificate !== undefined && !isCertificateOf(certificate, key))
    errors.push(fieldError('oauth.certificate', 'format', 'is not the PEM certificate of private_key'));
  return errors;
}

function readPrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function isCertificateOf(pem: string, key: KeyObject): boolean {
  try {
    return new X509Certificate(pem).checkPrivateKey(key);
  } catch {
    return false;
  }
}

/** The algorithms that a key can sign with, the default first; undefined for another kind of key. */
export function algorithmsOf(key: KeyObject): readonly SigningAlgorithm[] | undefined {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return ['RS256', 'PS256'];
    case 'ed25519':
      return ['EdDSA'];
    case 'ec': {
      const curves: Record<string, readonly SigningAlgorithm[]> = {
        prime256v1: ['ES256'],
        secp384r1: ['ES384'],
      };
      return curves[key.asymmetricKeyDetails?.namedCurve ?? ''];
    }
    default:
      return undefined;
  }
}
