import { isMailAddress } from '../../../domain/kernel/mail/mail.enqueue.ts';
import { MASK } from '../../../domain/kernel/settings/settings.secrets.ts';
import type { SecretBox } from '../../../platform/crypto.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import type { Destination, S3Address, StoredDestination } from './extraction-schedules.types.ts';

/** What storing a destination needs besides the request. */
export interface DestinationTools {
  secrets: SecretBox;
  outbound: Outbound;
}

/** A destination as its columns hold it. */
export interface KeptDestination {
  destination: StoredDestination;
  /** Sealed. */
  secret: string | null;
}

/** The members that decide to whom requests signed with the secret go, and what they open. */
const leading = ['endpoint', 'region', 'bucket', 'path_style', 'access_key_id'] as const;

/** What a secret of a schedule is sealed for. */
export const secretContext = (id: string): string => `extraction_schedule.${id}`;

/** The address of an S3-compatible store. */
export const endpointOf = ({ endpoint, region }: Pick<S3Address, 'endpoint' | 'region'>): string =>
  endpoint ?? `https://s3.${region}.amazonaws.com`;

const members: Record<Destination['kind'], { needed: (keyof Destination)[]; more: (keyof Destination)[] }> = {
  disk: { needed: [], more: [] },
  mail: { needed: ['recipients'], more: [] },
  s3: {
    needed: ['bucket', 'access_key_id'],
    more: ['endpoint', 'region', 'prefix', 'path_style', 'secret_access_key'],
  },
};

/**
 * Parts a destination into what is shown and what is sealed. Whoever may change a schedule must not use a secret that
 * somebody else gave for another address: with the address it is asked for again.
 * @throws EstateError `validation_failed` by field.
 */
export function keepDestination(
  tools: DestinationTools,
  id: string,
  given: Destination,
  before: KeptDestination | undefined,
): KeptDestination {
  refuse(memberFaults(given));
  if (given.kind === 'disk') return { destination: { kind: 'disk' }, secret: null };
  if (given.kind === 'mail') {
    const recipients = given.recipients!;
    refuse(recipientFaults(recipients));
    return { destination: { kind: 'mail', recipients }, secret: null };
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
  refuse(addressFaults(tools, address));
  if (sent === undefined && !keepsSecret(address, before)) {
    refuse([
      fault(
        'secret_access_key',
        'secret_needed',
        `is needed, and again when one of ${leading.join(', ')} changes`,
      ),
    ]);
  }
  const secret = sent === undefined ? before!.secret : tools.secrets.seal(sent, secretContext(id));
  return { destination: address, secret };
}

const fault = (member: string, code: string, message: string): FieldError => ({
  field: `destination.${member}`,
  code,
  message,
});

function refuse(faults: FieldError[]): void {
  if (faults.length > 0) throw invalidFields(faults);
}

function memberFaults(given: Destination): FieldError[] {
  const { needed, more } = members[given.kind];
  const known: string[] = ['kind', ...needed, ...more];
  return [
    ...needed
      .filter((member) => given[member] === undefined)
      .map((member) => fault(member, 'required', `is needed for ${given.kind}`)),
    ...Object.keys(given)
      .filter((member) => !known.includes(member))
      .map((member) => fault(member, 'unknown_field', `is not known for ${given.kind}`)),
  ];
}

function recipientFaults(recipients: string[]): FieldError[] {
  return recipients.flatMap((to, n) =>
    isMailAddress(to) ? [] : [fault(`recipients.${n}`, 'format', 'is no address that mail can be sent to')],
  );
}

function addressFaults({ outbound }: DestinationTools, address: S3Address): FieldError[] {
  const endpoint = endpointOf(address);
  const refusal = outbound.refusal(endpoint) ?? pathFault(endpoint);
  const dots = address.prefix.split('/').some((part) => /^\.+$/.test(part));
  return [
    ...(refusal === undefined ? [] : [fault('endpoint', 'refused_address', refusal)]),
    ...(dots ? [fault('prefix', 'format', 'must not hold parts of dots alone')] : []),
  ];
}

function keepsSecret(address: S3Address, before: KeptDestination | undefined): boolean {
  const present = before?.destination;
  if (present?.kind !== 's3' || !before?.secret) return false;
  return leading.every((member) => present[member] === address[member]);
}

function pathFault(endpoint: string): string | undefined {
  const { pathname, search, hash } = new URL(endpoint);
  return pathname === '/' && !search && !hash ? undefined : 'must be a scheme and a host alone';
}
