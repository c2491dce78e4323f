import type { Clock } from '../../clock.ts';
import type { Connector } from '../connector.ts';
import { createSurely } from '../surely.ts';
import type { Transport } from '../transport.ts';
import type { ServiceNowConfig } from './config.ts';
import type { Reading } from './reading.ts';
import { createChanging } from './writing.change.ts';
import { createCreating } from './writing.create.ts';
import type { WritingParts } from './writing.parts.ts';
import { createRelating } from './writing.relations.ts';
import { removeRecord } from './writing.remove.ts';

export type Writing = Pick<
  Connector,
  'create' | 'findCreated' | 'update' | 'delete' | 'createRelation' | 'deleteRelation'
> &
  Required<Pick<Connector, 'adopted' | 'findRelation'>>;

/** Writes records and relations of one instance, nothing twice: each way of writing has a file of its own. */
export function createWriting(
  transport: Transport,
  reading: Reading,
  { config, clock, signal }: { config: ServiceNowConfig; clock: Clock; signal?: AbortSignal },
): Writing {
  const surely = createSurely({
    transport,
    clock,
    settleMs: config.settleMs,
    ...(signal ? { signal } : {}),
  });
  const parts: WritingParts = { transport, reading, config, surely };
  return {
    ...createCreating(parts),
    ...createChanging(parts),
    delete: (table, id, _version, seen) =>
      removeRecord(parts, { table, id, doing: `Deleting a record of ${table}` }, seen),
    ...createRelating(parts),
  };
}
