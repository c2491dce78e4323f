import { open, readFile, rename, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import type { Logger } from '../logging.ts';
import { StartupError } from '../startup.ts';
import type { ServerAccount } from './account.ts';
import type { Binaries } from './binaries.ts';

/** The PostgreSQL of one data folder. */
export interface Cluster {
  /** The data folder's real path. */
  dataDir: string;
  binaries: Binaries;
  account: ServerAccount;
  log: Logger;
}

/** What a client needs to get in. */
export interface Access {
  port: number;
  password: string;
}

/** The database user that all processes log in as. */
export const DATABASE_USER = 'estate';

export const folderOf = (cluster: Cluster) => path.join(cluster.dataDir, 'postgres');
const accessFile = (cluster: Cluster) => path.join(cluster.dataDir, 'postgres.json');
export const logFile = (cluster: Cluster) => path.join(cluster.dataDir, 'postgres.log');

/** The address of the cluster's database. */
export function urlOf(access: Access): string {
  return `postgres://${DATABASE_USER}:${access.password}@127.0.0.1:${access.port}/postgres`;
}

/** Written whole or not at all, and readable by its owner only. */
export async function writeAccess(cluster: Cluster, access: Access): Promise<void> {
  const target = accessFile(cluster);
  const partial = `${target}.part`;
  await writeFile(partial, JSON.stringify({ ...access, url: urlOf(access) }), { mode: 0o600 });
  const file = await open(partial, 'r+');
  await file.sync();
  await file.close();
  await rename(partial, target);
}

/** @throws StartupError when the file is missing or damaged: without it nobody knows the password. */
export async function readAccess(cluster: Cluster): Promise<Access> {
  const file = accessFile(cluster);
  const lost = (what: string) =>
    new StartupError(`${file} is ${what}, and with it the database's password: restore it from a backup.`);
  let access: Access;
  try {
    access = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw lost('missing');
    if (error instanceof SyntaxError) throw lost('damaged');
    throw error;
  }
  if (!Number.isInteger(access?.port) || typeof access.password !== 'string') throw lost('damaged');
  return { port: access.port, password: access.password };
}

/** A port of the loopback interface that nobody listens on at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
