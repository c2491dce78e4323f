import { rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { sha256 } from '../crypto.ts';

/** A lock that the operating system itself frees when its holder ends, however it ends. */
export interface FolderLock {
  release(): Promise<void>;
}

/** The socket that represents a lock: a name without a file where the system has such names. */
function socketName(folder: string, purpose: string): string {
  const name = `estate-${sha256(`${folder}\n${purpose}`).slice(0, 24)}`;
  if (process.platform === 'linux') return `\0${name}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
  return path.join(os.tmpdir(), `${name}.sock`);
}

function listen(name: string): Promise<net.Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => socket.destroy());
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(name, () => resolve(server));
  });
}

function answers(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(name);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Takes the folder's lock of that purpose, or answers undefined when another process holds it. */
export async function tryLock(folder: string, purpose: string): Promise<FolderLock | undefined> {
  const name = socketName(folder, purpose);
  let server = await listen(name);
  if (!server && name.endsWith('.sock') && !(await answers(name))) {
    // a socket file that a killed process left behind
    rmSync(name, { force: true });
    server = await listen(name);
  }
  if (!server) return undefined;
  const held = server;
  return { release: () => new Promise((resolve) => held.close(() => resolve())) };
}

const STEP_MS = 50;

/** Waits for the lock. @returns undefined when it could not be had within the time. */
export async function waitForLock(
  folder: string,
  purpose: string,
  limitMs: number,
): Promise<FolderLock | undefined> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const lock = await tryLock(folder, purpose);
    if (lock || Date.now() > deadline) return lock;
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}
