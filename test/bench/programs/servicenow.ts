import { serverCertificate } from '../../emulators/certificates.ts';
import { populate, relationTypes } from '../../emulators/servicenow/landscape.ts';
import { startServiceNow } from '../../emulators/servicenow/server.ts';
import { answerMessages } from '../harness/programs.ts';

/** What the remote holds, and how it behaves from now on; what it has been called with is returned and forgotten. */
export interface RemoteOrder {
  populate?: { items: number; relations: number };
  /** Requests a second. */
  limit?: number;
  /** Milliseconds that a page and a write take. */
  latency?: { list?: number; write?: number };
  /** Records that somebody else changes and deletes. */
  edits?: number;
  deletes?: number;
}

export interface RemoteState {
  base: string;
  /** The relation types in use. */
  types: string[];
  now: number;
  calls: { table: string; at: number; refused: boolean }[];
}

const TABLE = 'cmdb_ci_business_app';
const instance = await startServiceNow({ tls: serverCertificate });
const { store } = instance;

answerMessages(({ populate: size, limit, latency, edits = 0, deletes = 0 }: RemoteOrder): RemoteState => {
  if (size) {
    // all of it is older than what is still becoming visible
    store.skew = -86_400_000;
    populate(instance, { items: { [TABLE]: size.items }, relations: size.relations });
    store.skew = 0;
  }
  const types = store
    .of('cmdb_rel_type')
    .filter(({ values }) => values.name === relationTypes[0])
    .map(({ values }) => values.sys_id!);
  // one kind of relation is one type of the inventory
  if (size) for (const { values } of store.of('cmdb_rel_ci')) values.type = types[0]!;
  if (limit !== undefined) instance.rate.rule = { limit, windowMs: 1_000, retryAfter: true, headers: true };
  Object.assign(instance.latency, latency);
  const rows = store.ids(TABLE).slice(0, edits + deletes);
  for (const id of rows.slice(0, edits)) instance.elsewhere.update(id, { short_description: 'edited' });
  for (const id of rows.slice(edits)) instance.elsewhere.remove(id);
  const calls = instance.calls.map(({ table, at, status }) => ({ table, at, refused: status === 429 }));
  instance.calls.length = 0;
  return { base: instance.base, types, now: instance.clock.now(), calls };
});
