import { isMailAddress } from '../../../domain/kernel/mail/mail.enqueue.ts';
import { MASK } from '../../../domain/kernel/settings/settings.read.ts';
import type { SecretBox } from '../../../platform/crypto.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import { privateKeyFault } from '../../../platform/ssh-keys.ts';
import {
  type Destination,
  type S3Address,
  type SftpAddress,
  type StoredDestination,
  sftpSecrets,
} from './extraction-schedules.types.ts';

/** Dependencies of {@link toColumns}. */
export interface DestinationTools {
  secrets: SecretBox;
  outbound: Outbound;
}

/** A destination as its columns store it. */
export interface DestinationColumns {
  destination: StoredDestination;
  /** Encrypted. */
  secret: string | null;
}

/** The members that determine where the secret gives access, and who gets it. */
const leading = {
  s3: ['endpoint', 'region', 'bucket', 'path_style', 'access_key_id'],
  sftp: ['host', 'port', 'username', 'host_key'],
} as const;

/** The encryption context of a schedule's secret. */
export const secretContext = (id: string): string => `extraction_schedule.${id}`;

/** The URL of an S3-compatible store. */
export const endpointOf = ({ endpoint, region }: Pick<S3Address, 'endpoint' | 'region'>): string =>
  endpoint ?? `https://s3.${region}.amazonaws.com`;

const members: Record<Destination['kind'], { needed: (keyof Destination)[]; more: (keyof Destination)[] }> = {
  disk: { needed: [], more: [] },
  mail: { needed: ['recipients'], more: [] },
  channel: { needed: ['channel_id'], more: [] },
  s3: {
    needed: ['bucket', 'access_key_id'],
    more: ['endpoint', 'region', 'prefix', 'path_style', 'secret_access_key'],
  },
  sftp: { needed: ['host', 'username', 'host_key'], more: ['port', 'folder', ...sftpSecrets] },
};

/**
 * Splits a destination into the readable part and the encrypted secret. If the address changes, the secret is required
 * again: a user must not send somebody else's secret to another server.
 * @throws EstateError `validation_failed` by field.
 */
export async function toColumns(
  tools: DestinationTools,
  id: string,
  given: Destination,
  before: DestinationColumns | undefined,
): Promise<DestinationColumns> {
  throwErrors(memberErrors(given));
  if (given.kind === 'disk') return { destination: { kind: 'disk' }, secret: null };
  if (given.kind === 'mail') {
    const recipients = given.recipients!;
    throwErrors(recipientErrors(recipients));
    return { destination: { kind: 'mail', recipients }, secret: null };
  }
  if (given.kind === 'channel') {
    return { destination: { kind: 'channel', channel_id: given.channel_id! }, secret: null };
  }
  return given.kind === 'sftp'
    ? await sftpColumns(tools, id, given, before)
    : s3Columns(tools, id, given, before);
}

function s3Columns(
  tools: DestinationTools,
  id: string,
  given: Destination,
  before: DestinationColumns | undefined,
): DestinationColumns {
  const address: S3Address = {
    kind: 's3',
    endpoint: given.endpoint ?? null,
    region: given.region ?? 'us-east-1',
    bucket: given.bucket!,
    prefix: given.prefix ?? '',
    path_style: given.path_style ?? false,
    access_key_id: given.access_key_id!,
  };
  const sent = given.secret_access_key === MASK ? undefined : given.secret_access_key;
  throwErrors(addressErrors(tools, address));
  if (sent === undefined && !canReuseSecret(address, before)) {
    throwErrors([secretNeeded('s3', 'secret_access_key')]);
  }
  const secret = sent === undefined ? before!.secret : tools.secrets.seal(sent, secretContext(id));
  return { destination: address, secret };
}

async function sftpColumns(
  { secrets, outbound }: DestinationTools,
  id: string,
  given: Destination,
  before: DestinationColumns | undefined,
): Promise<DestinationColumns> {
  const address: SftpAddress = {
    kind: 'sftp',
    host: given.host!,
    port: given.port ?? 22,
    username: given.username!,
    folder: given.folder ?? '',
    host_key: given.host_key!,
  };
  const refusal = outbound.sftpRefusal(address.host, address.port);
  if (refusal !== undefined) throwErrors([fieldError('host', 'refused_address', refusal)]);
  const sent = sftpSecrets.filter((member) => given[member] !== undefined && given[member] !== MASK);
  if (sent.length === 0) {
    if (!canReuseSecret(address, before)) throwErrors([secretNeeded('sftp', 'password')]);
    return { ...before!, destination: { ...address, ...masksOf(sftpSecrets, before!.destination) } };
  }
  const { password, private_key, passphrase } = Object.fromEntries(
    sent.map((member) => [member, given[member]]),
  );
  if (password !== undefined && private_key !== undefined) {
    throwErrors([fieldError('password', 'not_offered', 'is not used beside private_key')]);
  }
  if (passphrase !== undefined && private_key === undefined)
    throwErrors([secretNeeded('sftp', 'private_key')]);
  const fault = private_key && (await privateKeyFault(private_key, passphrase));
  if (fault) throwErrors([fieldError('private_key', 'format', fault)]);
  return {
    destination: { ...address, ...masksOf(sent, given) },
    secret: secrets.seal(JSON.stringify({ password, private_key, passphrase }), secretContext(id)),
  };
}

const masksOf = (members: readonly string[], of: object) =>
  Object.fromEntries(members.filter((member) => member in of).map((member) => [member, MASK]));

const fieldError = (member: string, code: string, message: string): FieldError => ({
  field: `destination.${member}`,
  code,
  message,
});

const secretNeeded = (kind: keyof typeof leading, member: string): FieldError =>
  fieldError(member, 'secret_needed', `is needed, and again when one of ${leading[kind].join(', ')} changes`);

function throwErrors(errors: FieldError[]): void {
  if (errors.length > 0) throw invalidFields(errors);
}

function memberErrors(given: Destination): FieldError[] {
  const { needed, more } = members[given.kind];
  const known: string[] = ['kind', ...needed, ...more];
  return [
    ...needed
      .filter((member) => given[member] === undefined)
      .map((member) => fieldError(member, 'required', `is needed for ${given.kind}`)),
    ...Object.keys(given)
      .filter((member) => !known.includes(member))
      .map((member) => fieldError(member, 'unknown_field', `is not known for ${given.kind}`)),
  ];
}

function recipientErrors(recipients: string[]): FieldError[] {
  return recipients.flatMap((to, n) =>
    isMailAddress(to) ? [] : [fieldError(`recipients.${n}`, 'format', 'is not a mail address')],
  );
}

function addressErrors({ outbound }: DestinationTools, address: S3Address): FieldError[] {
  const endpoint = endpointOf(address);
  const refusal = outbound.refusal(endpoint) ?? pathError(endpoint);
  const dots = address.prefix.split('/').some((part) => /^\.+$/.test(part));
  return [
    ...(refusal === undefined ? [] : [fieldError('endpoint', 'refused_address', refusal)]),
    ...(dots ? [fieldError('prefix', 'format', 'must not contain path segments of dots only')] : []),
  ];
}

/** Whether the stored secret is for the same login at the same place. */
function canReuseSecret(address: S3Address | SftpAddress, before: DestinationColumns | undefined): boolean {
  if (!before?.secret || before.destination.kind !== address.kind) return false;
  const [present, given] = [before.destination, address] as [object, object] as [Fields, Fields];
  return leading[address.kind].every((member) => present[member] === given[member]);
}
type Fields = Record<string, unknown>;

function pathError(endpoint: string): string | undefined {
  const { pathname, search, hash } = new URL(endpoint);
  return pathname === '/' && !search && !hash ? undefined : 'must only have a scheme and a host';
}
