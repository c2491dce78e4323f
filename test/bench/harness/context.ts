import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { extensions } from '../../../domain/app/extensions.ts';
import { type Ctx, systemCaller } from '../../../domain/kernel/context.ts';
import { createMetamodelStore, loadMetamodel } from '../../../domain/kernel/metamodel/metamodel.store.ts';
import type { Db } from '../../../platform/database.ts';
import { createPasswords } from '../../../platform/passwords.ts';

/** A context for calling functions of the service directly, as the service itself. */
export const benchContext = async (db: Db): Promise<Ctx> => ({
  db,
  log: pino({ level: 'silent' }),
  caller: systemCaller,
  requestId: 'bench',
  origin: 'system',
  jobId: null,
  batch: { id: randomUUID(), toolName: 'bench' },
  passwords: createPasswords(),
  extensions,
  metamodels: createMetamodelStore(),
  metamodel: await loadMetamodel(db),
  position: undefined,
  ifMatch: undefined,
  claim: undefined,
});
