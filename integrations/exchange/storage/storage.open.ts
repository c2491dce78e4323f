import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { copyFile, link, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Services } from '../../../domain/kernel/services.ts';
import { s3Storage } from './s3.ts';
import { type SftpOptions, sftpStorage } from './sftp.ts';
import type { Storage } from './storage.types.ts';

/** The folder with one subfolder per extraction schedule, named by its id. */
export const extractionsFolder = (dataDir: string): string => path.join(dataDir, 'extractions');

/** The destination of files: a schedule's folder, or a bucket or an SFTP server with its credentials. */
type StorageAddress =
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
    }
  | ({ kind: 'sftp' } & Omit<SftpOptions, 'outbound'>);

/** Opens a storage; close it when done. */
export async function openStorage(
  { config, outbound }: Pick<Services, 'config' | 'outbound'>,
  address: StorageAddress,
): Promise<Storage> {
  if (address.kind === 'disk') {
    if (!/^[0-9a-f-]{36}$/.test(address.scheduleId)) throw new Error('invalid schedule id');
    return diskStorage(path.join(extractionsFolder(config.dataDir), address.scheduleId));
  }
  if (address.kind === 'sftp') return await sftpStorage({ ...address, outbound });
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

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Stores files in a folder; each gets its name only after it is complete and flushed to disk. */
function diskStorage(folder: string): Storage {
  const place = (name: string): string => {
    if (!NAME.test(name)) throw new Error(`invalid file name: ${name}`);
    return path.join(folder, name);
  };
  return {
    async put(file, signal) {
      const target = place(file.name);
      const partial = `${target}.${randomUUID()}.part`;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      try {
        await pipeline(await file.open(), createWriteStream(partial, { mode: 0o600 }), { signal });
        const written = await open(partial, 'r+');
        await written.sync();
        await written.close();
        await rename(partial, target);
      } finally {
        await rm(partial, { force: true });
      }
    },
    async publish(file, as) {
      const partial = `${place(as)}.${randomUUID()}.part`;
      try {
        // not every file system supports hard links
        await link(place(file.name), partial).catch(() => copyFile(place(file.name), partial));
        await rename(partial, place(as));
      } finally {
        // renaming a hard link onto the same file does nothing
        await rm(partial, { force: true });
      }
    },
    async remove(name) {
      await rm(place(name), { force: true });
    },
    close() {},
  };
}
