import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type FieldError, fieldError, invalidFields } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import { timeZoneErrors } from '../../kernel/jobs/schedules.fire.ts';
import { MASK } from '../../kernel/settings/settings.read.ts';
import { apiKeyErrors, fitsHeader, oauthErrors } from './connections.auth.ts';
import {
  type AuthType,
  type ConnectionKind,
  type ConnectionKindRules,
  type ConnectionPatch,
  type ConnectionSecrets,
  connectionKinds,
  newRecordsErrors,
  secretMembers,
} from './connections.input.ts';
import { sourceErrors } from './http-sources.input.ts';
import type { ConnectionWithSecrets } from './itsm.load.ts';
import { type ConnectionSettings, settingNames } from './itsm.model.ts';

type Credential =
  | 'username'
  | 'password'
  | 'client_id'
  | 'client_secret'
  | 'refresh_token'
  | 'token'
  | 'private_key';

const credentials: readonly Credential[] = [
  'username',
  'password',
  'client_id',
  'client_secret',
  'refresh_token',
  'token',
  'private_key',
];
const requiredCredentials: Record<
  Exclude<AuthType, 'oauth2'> | NonNullable<ConnectionSettings['grant_type']> | 'private_key_jwt',
  readonly Credential[]
> = {
  none: [],
  basic: ['username', 'password'],
  token: ['token'],
  api_key: ['token'],
  private_key_jwt: ['client_id', 'private_key'],
  password: ['client_id', 'client_secret', 'username', 'password'],
  client_credentials: ['client_id', 'client_secret'],
  refresh_token: ['client_id', 'client_secret', 'refresh_token'],
};

const rulesOf = (kind: ConnectionKind): ConnectionKindRules => connectionKinds[kind];

const defaultSettings = (kind: ConnectionKind): ConnectionSettings => ({
  ...(Object.fromEntries(settingNames.map((name) => [name, null])) as Record<keyof ConnectionSettings, null>),
  name: '',
  kind,
  instance_url: '',
  auth_type: rulesOf(kind).authTypes[0],
  is_active: true,
});

/**
 * The connection after a change. Credentials that the authentication type does not need are removed. If the address changes,
 * all secrets have to be entered again: otherwise a user could have the stored secrets sent to a server of their own.
 * @throws EstateError `validation_failed` by field.
 */
export function mergeConnection(
  outbound: Outbound,
  input: ConnectionPatch & { kind?: ConnectionKind },
  before: ConnectionWithSecrets | undefined,
): ConnectionWithSecrets {
  const settings = mergeSettings(input, before?.settings ?? defaultSettings(input.kind ?? 'servicenow'));
  const isMoved = before !== undefined && isElsewhere(before.settings, settings);
  const secrets: ConnectionSecrets = {};
  const droppedSecrets = new Set<string>();
  for (const member of secretMembers) {
    const sent = input[member] === MASK ? undefined : input[member];
    const stored = before?.secrets[member];
    const value = sent === undefined ? (isMoved ? undefined : stored) : sent;
    if (value) secrets[member] = value;
    else if (sent === undefined && stored !== undefined) droppedSecrets.add(member);
  }
  // the key is removed with its certificate
  if (!settings.client_certificate && !(input.client_key && input.client_key !== MASK))
    delete secrets.client_key;
  const isKeyDropped = droppedSecrets.has('client_key');
  const { address, timeZone, sources } = rulesOf(settings.kind);
  const errors = [
    ...errorIf(settings.name === '', 'name', 'required', 'must not be blank'),
    ...addressErrors(outbound, settings.instance_url, address),
    ...kindErrors(settings, 'time_zone', {
      isUsed: timeZone,
      value: settings.time_zone,
      errorsOf: timeZoneErrors,
    }),
    ...authenticationErrors(outbound, settings, secrets),
    ...credentialErrors(input, settings, secrets, droppedSecrets),
    ...kindErrors(settings, 'sources', { isUsed: sources, value: settings.sources, errorsOf: sourceErrors }),
    ...createApiErrors(settings),
    ...(isKeyDropped ? [] : certificateErrors(settings, secrets)),
  ];
  if (settings.client_certificate && isKeyDropped) errors.push(secretRequired('client_key'));
  if (errors.length > 0) throw invalidFields(errors);
  return { settings, secrets };
}

/** Whether secrets would be sent to another server than before. */
const isElsewhere = (before: ConnectionSettings, after: ConnectionSettings): boolean =>
  before.instance_url !== after.instance_url ||
  (before.oauth !== null && after.oauth !== null && before.oauth.token_url !== after.oauth.token_url);

const errorIf = (isError: boolean, ...of: Parameters<typeof fieldError>): FieldError[] =>
  isError ? [fieldError(...of)] : [];
const secretRequired = (field: string): FieldError =>
  fieldError(field, 'secret_needed', 'is needed again when the address changes');

const textMembers = new Set(['username', 'client_id', 'time_zone', 'ca', 'client_certificate']);

function mergeSettings(input: ConnectionPatch, present: ConnectionSettings): ConnectionSettings {
  const sent = settingNames.flatMap((member) => {
    const value = member === 'kind' ? undefined : input[member];
    if (value === undefined) return [];
    return [[member, textMembers.has(member) ? (value as string | null)?.trim() || null : value]];
  });
  const merged: ConnectionSettings = { ...present, ...Object.fromEntries(sent) };
  return {
    ...merged,
    name: merged.name.trim(),
    instance_url: merged.instance_url.trim().replace(/\/$/, ''),
    grant_type: merged.auth_type === 'oauth2' ? (merged.grant_type ?? 'client_credentials') : null,
    // what another authentication type has left
    oauth: merged.auth_type === 'oauth2' || input.oauth ? merged.oauth : null,
    api_key: merged.auth_type === 'api_key' || input.api_key ? merged.api_key : null,
  };
}

/** Errors of a setting that only some kinds have, and that these need. */
function kindErrors<T>(
  { kind }: ConnectionSettings,
  member: string,
  given: { isUsed?: true | undefined; value: T | null; errorsOf: (value: T) => FieldError[] },
): FieldError[] {
  const { isUsed, value, errorsOf } = given;
  if (!isUsed) return unusedErrors(kind, member, value);
  return value === null ? [fieldError(member, 'required', `is needed for ${kind}`)] : errorsOf(value);
}

/** Errors of the create API and the correlation column. */
function createApiErrors({ kind, new_records, correlation_column }: ConnectionSettings): FieldError[] {
  const { newRecords, correlationColumn } = rulesOf(kind);
  return [
    ...(new_records !== null && newRecords
      ? newRecordsErrors(new_records, newRecords)
      : unusedErrors(kind, 'new_records', new_records)),
    ...(correlationColumn ? [] : unusedErrors(kind, 'correlation_column', correlation_column)),
  ];
}

const unusedErrors = (kind: ConnectionKind, member: string, value: unknown): FieldError[] =>
  errorIf(value !== null, member, 'not_offered', `is not used for ${kind}`);

/** Errors of the OAuth client and the place of the API key, without their secrets. */
function authenticationErrors(
  outbound: Outbound,
  { kind, auth_type, grant_type, oauth, api_key }: ConnectionSettings,
  { private_key }: ConnectionSecrets,
): FieldError[] {
  const { authTypes: offered, tokenEndpoint } = rulesOf(kind);
  if (!offered.includes(auth_type)) return [];
  const needsClient = tokenEndpoint === true && auth_type === 'oauth2';
  const ofClient = !needsClient
    ? errorIf(
        oauth !== null,
        'oauth',
        'not_offered',
        tokenEndpoint ? 'is only for oauth2' : `is not used for ${kind}`,
      )
    : oauth === null
      ? [fieldError('oauth', 'required', 'is needed for oauth2')]
      : oauthErrors(outbound, oauth, private_key);
  const ofKey =
    auth_type !== 'api_key'
      ? errorIf(api_key !== null, 'api_key', 'not_offered', 'is only for api_key')
      : api_key === null
        ? [fieldError('api_key', 'required', 'is needed for api_key')]
        : apiKeyErrors(api_key);
  const isOtherGrant = needsClient && grant_type !== 'client_credentials';
  return [
    ...ofClient,
    ...ofKey,
    ...errorIf(isOtherGrant, 'grant_type', 'not_offered', 'must be client_credentials'),
  ];
}

/** Removes credentials that are not needed, and returns errors for missing and for unused ones. */
function credentialErrors(
  input: ConnectionPatch,
  settings: ConnectionSettings,
  secrets: ConnectionSecrets,
  droppedSecrets: ReadonlySet<string>,
): FieldError[] {
  const { authTypes: offered } = rulesOf(settings.kind);
  if (!offered.includes(settings.auth_type)) {
    const message = `is not offered by ${settings.kind}; ${offered.join(' or ')} is`;
    return [fieldError('auth_type', 'not_offered', message)];
  }
  const isSigned = settings.oauth?.client_auth === 'private_key_jwt';
  const way =
    settings.auth_type !== 'oauth2'
      ? settings.auth_type
      : isSigned
        ? 'private_key_jwt'
        : settings.grant_type!;
  // a connection with a stored token that cannot be sent can still be paused
  const isAsked = Boolean(input.token || input.api_key || input.auth_type);
  const errors: FieldError[] = [];
  if (settings.auth_type !== 'oauth2' && input.grant_type) {
    errors.push(fieldError('grant_type', 'not_offered', 'is only for oauth2'));
  }
  for (const member of credentials) {
    const isSecret = member !== 'username' && member !== 'client_id';
    const value = isSecret ? secrets[member] : settings[member];
    if (requiredCredentials[way].includes(member)) {
      if (droppedSecrets.has(member)) errors.push(secretRequired(member));
      else if (!value)
        errors.push(fieldError(member, 'required', `is needed for ${describeAuthentication(settings)}`));
      else if (member === 'token' && settings.api_key?.in !== 'query' && isAsked && !fitsHeader(value))
        errors.push(
          fieldError(
            member,
            'format',
            'must be visible ASCII without line breaks, as it is sent in a header',
          ),
        );
      continue;
    }
    if (input[member] && input[member] !== MASK) {
      errors.push(fieldError(member, 'not_offered', `is not used for ${describeAuthentication(settings)}`));
    }
    if (isSecret) delete secrets[member];
    else settings[member] = null;
  }
  return errors;
}

const describeAuthentication = ({ auth_type, grant_type, oauth }: ConnectionSettings): string =>
  grant_type === null ? auth_type : `${auth_type} by ${oauth?.client_auth ?? grant_type}`;

/** Errors of the address: refused by the outbound guard, or not in the form that the kind of connection needs. */
function addressErrors(
  outbound: Outbound,
  address: string,
  form: ConnectionKindRules['address'],
): FieldError[] {
  if (address === '') return [fieldError('instance_url', 'required', 'is needed, or a preset')];
  const refusal = outbound.refusal(address);
  if (refusal !== undefined) return [fieldError('instance_url', 'refused_address', refusal)];
  const { origin, pathname } = new URL(address);
  const [expected, parts] =
    form === 'host'
      ? [origin, 'a scheme and a host']
      : [`${origin}${pathname}`.replace(/\/+$/, ''), 'a scheme, a host and a path'];
  const isError = expected.toLowerCase() !== address.toLowerCase();
  return errorIf(isError, 'instance_url', 'format', `must be only ${parts}, such as ${expected}`);
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Errors of the certificate authorities, the client certificate and its key. */
function certificateErrors(
  { ca, client_certificate: certificate }: ConnectionSettings,
  { client_key: key }: ConnectionSecrets,
): FieldError[] {
  const certificates = certificate === null ? undefined : readCertificates(certificate);
  const hasKey = key !== undefined;
  return [
    ...errorIf(ca !== null && !readCertificates(ca), 'ca', 'format', 'contains no PEM certificates'),
    ...(certificate === null
      ? errorIf(hasKey, 'client_certificate', 'required', 'is needed with its key')
      : [
          ...errorIf(!certificates, 'client_certificate', 'format', 'is not a PEM certificate'),
          ...errorIf(!hasKey, 'client_key', 'required', 'is needed with its certificate'),
        ]),
    ...(certificates && hasKey ? keyErrors(certificates[0]!, key) : []),
  ];
}

function readCertificates(text: string): X509Certificate[] | undefined {
  try {
    const read = (text.match(PEM) ?? []).map((one) => new X509Certificate(one));
    return read.length > 0 ? read : undefined;
  } catch {
    return undefined;
  }
}

function keyErrors(certificate: X509Certificate, key: string): FieldError[] {
  try {
    const isKey = certificate.checkPrivateKey(createPrivateKey(key));
    return errorIf(!isKey, 'client_key', 'format', 'is not the key of client_certificate');
  } catch {
    return [fieldError('client_key', 'format', 'is not a PEM private key without a passphrase')];
  }
}
