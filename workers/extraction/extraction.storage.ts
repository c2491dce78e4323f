import type { Services } from '../../domain/kernel/services.ts';
import { openStorage } from '../../integrations/exchange/storage/storage.open.ts';
import type { Storage } from '../../integrations/exchange/storage/storage.types.ts';
import { EstateError } from '../../platform/errors.ts';
import {
  endpointOf,
  secretContext,
} from '../../reports/exchange/schedules/extraction-schedules.destination.ts';
import type { StoredDestination } from '../../reports/exchange/schedules/extraction-schedules.types.ts';

/** The storage that a schedule's files go to; undefined for mail. */
export async function storageOf(
  services: Services,
  schedule: { id: string; destination: StoredDestination; secret: string | null },
): Promise<Storage | undefined> {
  const { id, destination } = schedule;
  if (destination.kind === 'mail') return undefined;
  if (destination.kind === 'disk') return await openStorage(services, { kind: 'disk', scheduleId: id });
  return await openStorage(services, {
    ...destination,
    endpoint: endpointOf(destination),
    secret_access_key: openSecret(services, schedule.secret!, id),
  });
}

function openSecret({ secrets }: Services, sealed: string, id: string): string {
  try {
    return secrets.open(sealed, secretContext(id));
  } catch (error) {
    throw new EstateError(
      'storage_refused',
      'The secret of the storage was sealed with a key that the service no longer has: give it again.',
      { cause: error },
    );
  }
}
