import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** A service as a newcomer starts it. */
export type StartedService = Awaited<ReturnType<typeof startService>>;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** `npm start` in a new data folder; ready when it has printed its address. */
export async function startService() {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'estate-docs-'));
  const { NODE_OPTIONS: _, DATABASE_URL: __, REDIS_URL: ___, ...env } = process.env;
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: { ...env, DATA_DIR: dataDir, PORT: String(await freePort()) },
    // a group of its own, as a terminal gives it: Ctrl-C reaches npm and the service alike
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGINT');
    await ended;
    rmSync(dataDir, { recursive: true });
  };
  let output = '';
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (/is ready at \S+/.test(output)) resolve();
      });
    }
    child.on('exit', (code, signal) =>
      reject(new Error(`npm start ended with ${code ?? signal}:\n${output}`)),
    );
  });
  await ready.catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const found = (pattern: RegExp) => {
    const value = pattern.exec(output)?.[1];
    if (!value) throw new Error(`npm start did not print ${pattern}:\n${output}`);
    return value;
  };
  return {
    base: found(/is ready at (\S+)/),
    email: found(/^\s*Administrator\s+(\S+)/m),
    password: found(/^\s*Password\s+(\S+)/m),
    output: () => output,
    /** Ends it as Ctrl-C does, and removes its data. */
    stop,
  };
}
