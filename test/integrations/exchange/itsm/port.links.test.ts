import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { createCards } from '../../../../domain/inventory/cards/bulk/bulk.create.ts';
import type { Connector } from '../../../../integrations/exchange/itsm/connectors/connector.ts';
import { emptyRow } from '../../../../integrations/exchange/itsm/engine/state.ts';
import { applyRun } from '../../../../integrations/exchange/itsm/port/apply.run.ts';
import { startServiceNow } from '../../../emulators/servicenow/server.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { mappedField, plainMapping } from './mapping.support.ts';
import { connect } from './remote.ts';
import { loadSyncState, storeMapping, storePlan } from './stored.ts';

const table = 'cmdb_ci_linux_server';
const relationType = 'relAppSuccessor';

const t = closeAfterAll(await createTestServices());
const ctx = await t.ctx();
const instance = closeAfterAll(await startServiceNow({ clock: createVirtualClock() }));
const remote = closeAfterAll(connect(instance));
const kind = {
  name: 'Replaces::Replaced by',
  parent_descriptor: 'Replaces',
  child_descriptor: 'Replaced by',
};
const type = instance.store.insert('cmdb_rel_type', kind, 'admin').values.sys_id!;

/** A plan that creates two records and the relation of their cards. */
async function planned(name: string) {
  const plain = plainMapping({ remote_table: table });
  const { db } = t.services;
  const { connectionId, mappingId: id } = await storeMapping(db, plain, { url: `https://${name}.example` });
  const mapping: Mapping = {
    ...plain,
    id,
    fields: [mappedField('name', 'name')],
    relations: [
      { relation_type_key: relationType, remote_type: type, reversed: false, target_mapping_id: null },
    ],
  };
  const names = [`${name} one`, `${name} two`];
  const made = await createCards(
    ctx,
    names.map((one, row_index) => ({ row_index, type: 'Application', name: one })),
    false,
  );
  const [source = '', target = ''] = made.results.map(({ id: card }) => card!);
  const link = { relationType, source, target };
  const rows = [
    ...[source, target].map((cardId, at) => ({
      action: 'create' as const,
      side: 'remote' as const,
      cardId,
      diff: { name: { old: null, new: names[at]! } },
      agreed: { name: { local: names[at]!, remote: names[at]! } },
      origin: 'pushed' as const,
    })),
    { action: 'relate' as const, side: 'remote' as const, link, cards: link, refers: { source, target } },
  ];
  const full = rows.map((row, no) => ({ ...emptyRow, reason: 'as tested', ...row, no }));
  return { mapping, names, runId: await storePlan(db, { connectionId, mapping, rows: full }) };
}

const apply = (runId: string, connector: Connector) =>
  applyRun({ ctx, connector, signal: new AbortController().signal, lockRun: async () => {} }, runId);

it.each([
  ['before its records are created', 'create', false],
  ['after its records are created', 'create', true],
  ['before it is written', 'createRelation', false],
  ['after it is written', 'createRelation', true],
] as const)(
  'a relation between created records is written once if the process ends %s',
  async (_when, call, after) => {
    const { mapping, names, runId } = await planned(`${call} ${after}`.toLowerCase().replace(' ', '-'));
    const killed = async (act: () => Promise<unknown>) => {
      if (after) await act();
      throw new Error('the process ends');
    };
    const dying: Connector = {
      ...remote,
      ...(call === 'create'
        ? { create: (...args: Parameters<Connector['create']>) => killed(() => remote.create(...args)) }
        : {
            createRelation: (...args: Parameters<Connector['createRelation']>) =>
              killed(() => remote.createRelation(...args)),
          }),
    } as Connector;
    await expect(apply(runId, dying)).rejects.toThrow('the process ends');
    await apply(runId, remote);
    const rows = await t.services.db('itsm_plan_rows').where({ run_id: runId });
    expect(rows.map(({ progress }) => progress)).toEqual(['applied', 'applied', 'applied']);
    const records = instance.store.of(table).filter(({ values }) => names.includes(values.name!));
    const [source, target] = names.map(
      (name) => records.find(({ values }) => values.name === name)!.values.sys_id!,
    );
    expect(records).toHaveLength(2);
    const made = instance.store.of('cmdb_rel_ci').filter(({ values }) => values.parent === source);
    expect(made.map(({ values }) => values.child)).toEqual([target]);
    const { syncState } = await loadSyncState(t.services.db, mapping.id);
    expect([...syncState.links.values()]).toMatchObject([{ relationType, source, target }]);
  },
);
