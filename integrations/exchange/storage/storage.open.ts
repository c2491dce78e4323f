import path from 'node:path';
import type { Services } from '../../../domain/kernel/services.ts';
import { diskStorage } from './disk.ts';
import { s3Storage } from './s3.ts';
import type { Storage } from './storage.types.ts';

/** The folder with one subfolder per extraction schedule, named by its id. */
export const extractionsFolder = (dataDir: string): string => path.join(dataDir, 'extractions');

/** The destination of files: a schedule's folder, or a bucket with its credentials. */
export type StorageAddress =
  | { kind: 'disk'; scheduleId: string }
  | {
      kind: 's3';
      endpoint: string;
      region: string;
      bucket: string;
      prefix: string;
      path_style: boolean;
      access_key_id: string;
      secret_access_key: string;
    };

/** Opens a storage; close it when done. */
export async function openStorage(
  { config, outbound }: Pick<Services, 'config' | 'outbound'>,
  address: StorageAddress,
): Promise<Storage> {
  if (address.kind === 'disk') {
    if (!/^[0-9a-f-]{36}$/.test(address.scheduleId)) throw new Error('invalid schedule id');
    return diskStorage(path.join(extractionsFolder(config.dataDir), address.scheduleId));
  }
  return await s3Storage({
    endpoint: address.endpoint,
    region: address.region,
    bucket: address.bucket,
    prefix: address.prefix,
    pathStyle: address.path_style,
    accessKeyId: address.access_key_id,
    secretAccessKey: address.secret_access_key,
    outbound,
  });
}
