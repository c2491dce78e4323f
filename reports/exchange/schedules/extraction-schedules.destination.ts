import { isMailAddress } from '../../../domain/kernel/mail/mail.enqueue.ts';
import { MASK } from '../../../domain/kernel/settings/settings.read.ts';
import type { SecretBox } from '../../../platform/crypto.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import type { Destination, S3Address, StoredDestination } from './extraction-schedules.types.ts';

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

/** The members that determine which server and bucket the secret gives access to. */
const leading = ['endpoint', 'region', 'bucket', 'path_style', 'access_key_id'] as const;

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
};

/**
 * Splits a destination into the readable part and the encrypted secret. If the address changes, the secret is required
 * again: a user must not send somebody else's secret to another server.
 * @throws EstateError `validation_failed` by field.
 */
export function toColumns(
  tools: DestinationTools,
  id: string,
  given: Destination,
  before: DestinationColumns | undefined,
): DestinationColumns {
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
    const message = `is needed, and again when one of ${leading.join(', ')} changes`;
    throwErrors([fieldError('secret_access_key', 'secret_needed', message)]);
  }
  const secret = sent === undefined ? before!.secret : tools.secrets.seal(sent, secretContext(id));
  return { destination: address, secret };
}

const fieldError = (member: string, code: string, message: string): FieldError => ({
  field: `destination.${member}`,
  code,
  message,
});

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

function canReuseSecret(address: S3Address, before: DestinationColumns | undefined): boolean {
  const present = before?.destination;
  if (present?.kind !== 's3' || !before?.secret) return false;
  return leading.every((member) => present[member] === address[member]);
}

function pathError(endpoint: string): string | undefined {
  const { pathname, search, hash } = new URL(endpoint);
  return pathname === '/' && !search && !hash ? undefined : 'must only have a scheme and a host';
}
