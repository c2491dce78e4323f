import type { AddressInfo } from 'node:net';
import type { Services } from '../domain/kernel/services.ts';
import { StartupError } from '../platform/startup.ts';
import { createApp } from './app.ts';
import type { App } from './types.ts';

export interface RunningApi {
  /** The listening URL, such as `http://127.0.0.1:8080`. */
  address: string;
  /** Ends streams, waits for running requests up to the time limit, and closes. */
  close(remainingMs: number): Promise<void>;
}

/** Time reserved for the steps after the API: jobs release their leases, connections close. */
const RESERVE_MS = 4_000;
const LOOK_MS = 50;

/** Serves the API. @throws StartupError if the port is not available. */
export async function serve(services: Services): Promise<RunningApi> {
  const { host, port } = services.config;
  const app = await createApp(services);
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw portError(error as NodeJS.ErrnoException, host, port);
  }
  const bound = app.server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return { address: `http://${name}:${bound.port}`, close: (remainingMs) => drain(app, remainingMs) };
}

async function drain(app: App, remainingMs: number): Promise<void> {
  const closed = app.close();
  // close idle keep-alive connections after their last response, without waiting for their clients
  const idle = setInterval(() => app.server.closeIdleConnections(), LOOK_MS);
  const limit = setTimeout(() => app.server.closeAllConnections(), Math.max(0, remainingMs - RESERVE_MS));
  try {
    await closed;
  } finally {
    clearInterval(idle);
    clearTimeout(limit);
  }
}

function portError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use: stop the other program or choose another with PORT.`,
    EACCES: `Port ${port} may not be used by this user: choose one above 1023 with PORT.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: choose another with HOST.`,
    ENOTFOUND: `${host} is not a known host name: choose another with HOST.`,
  };
  const reason = reasons[error.code ?? ''];
  return reason ? new StartupError(reason) : error;
}
