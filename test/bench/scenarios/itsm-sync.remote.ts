import { serverCertificate } from '../../emulators/certificates.ts';
import { furnish, relationTypes } from '../../emulators/servicenow/landscape.ts';
import { startServiceNow } from '../../emulators/servicenow/server.ts';

/** A remote in a process of its own: `node itsm-sync.remote.ts <items> <relations> <page ms>`. */
const [items = 0, relations = 0, latency = 0] = process.argv.slice(2).map(Number);

const instance = await startServiceNow({ tls: serverCertificate, latency: { list: latency } });
// all of it is older than what is still becoming visible
instance.store.skew = -86_400_000;
furnish(instance, { items: { cmdb_ci_business_app: items }, relations });
instance.store.skew = 0;
// one kind of relation is one type of the inventory
const [type] = [...instance.store.of('cmdb_rel_type')]
  .filter(({ values }) => values.name === relationTypes[0])
  .map(({ values }) => values.sys_id!);
for (const { values } of instance.store.of('cmdb_rel_ci')) values.type = type!;

process.on('message', (asked: { edits?: number; deletes?: number }) => {
  const rows = [...instance.store.of('cmdb_ci_business_app')].map(({ values }) => values.sys_id!);
  const { edits = 0, deletes = 0 } = asked;
  for (const id of rows.slice(0, edits)) instance.elsewhere.update(id, { short_description: 'edited' });
  for (const id of rows.slice(edits, edits + deletes)) instance.elsewhere.remove(id);
  const calls: Record<string, number> = {};
  for (const { table } of instance.calls) calls[table] = (calls[table] ?? 0) + 1;
  instance.calls.length = 0;
  process.send!({ calls });
});
process.on('disconnect', () => process.exit(0));
process.send!({ base: instance.base, types: [type] });
