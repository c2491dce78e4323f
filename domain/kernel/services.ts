import { randomUUID } from 'node:crypto';
import type { BlobStore } from '../../platform/blobs.ts';
import type { Cache } from '../../platform/cache.ts';
import type { Config } from '../../platform/config.ts';
import type { SecretBox } from '../../platform/crypto.ts';
import type { Db } from '../../platform/database.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Outbound } from '../../platform/outbound.ts';
import type { Passwords } from '../../platform/passwords.ts';
import type { Signals } from '../../platform/signals.ts';
import { type Caller, type Ctx, type Extensions, systemCaller } from './context.ts';
import type { MetamodelStore } from './metamodel/metamodel.store.ts';
import type { SessionReader } from './sessions.ts';
import type { SettingsStore } from './settings/settings.read.ts';

/** The services of a process; created once in its main file and passed down. */
export interface Services {
  config: Config;
  log: Logger;
  db: Db;
  blobs: BlobStore;
  secrets: SecretBox;
  passwords: Passwords;
  extensions: Extensions;
  metamodels: MetamodelStore;
  settings: SettingsStore;
  sessions: SessionReader;
  cache: Cache;
  signals: Signals;
  outbound: Outbound;
}

/** The context of a job, a schedule or a start-up task. */
export async function createContext(
  services: Services,
  caller: Caller,
  more: { requestId: string; origin: Ctx['origin']; tool: string; jobId?: string | null },
): Promise<Ctx> {
  const { topics } = await services.sessions.read(null);
  const version = topics.get('metamodel') ?? 0;
  return {
    db: services.db,
    log: services.log,
    caller,
    requestId: more.requestId,
    origin: more.origin,
    jobId: more.jobId ?? null,
    // The writes of a job are undone under the job's own id.
    batch: { id: more.jobId ?? randomUUID(), toolName: more.tool },
    passwords: services.passwords,
    extensions: services.extensions,
    metamodels: services.metamodels,
    metamodel: await services.metamodels.at(version, services.db),
    position: undefined,
    ifMatch: undefined,
    claim: undefined,
  };
}

/** The context of work that the service executes for itself. @param tool the source shown in its batch. */
export async function systemContext(
  services: Services,
  tool: string,
  job?: { id: string; requestId: string },
): Promise<Ctx> {
  return await createContext(services, systemCaller, {
    requestId: job?.requestId ?? randomUUID(),
    origin: 'system',
    tool,
    jobId: job?.id ?? null,
  });
}
