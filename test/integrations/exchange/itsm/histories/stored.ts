import { randomUUID } from 'node:crypto';
import { lockSyncState } from '../../../../../domain/exchange/itsm/itsm.load.ts';
import type { Mapping, Value } from '../../../../../domain/exchange/itsm/mappings.types.ts';
import { loadRun } from '../../../../../domain/exchange/itsm/runs.commands.ts';
import { createCards } from '../../../../../domain/inventory/cards/bulk/bulk.create.ts';
import { archiveCard, restoreCard } from '../../../../../domain/inventory/cards/cards.archive.ts';
import { deleteCard } from '../../../../../domain/inventory/cards/cards.removal.ts';
import { patchCard } from '../../../../../domain/inventory/cards/cards.write.ts';
import { mergeCards } from '../../../../../domain/inventory/cards/merge/merge.command.ts';
import { changeMetamodel } from '../../../../../domain/inventory/metamodel/changes/changes.run.ts';
import {
  createRelation,
  deleteRelation,
} from '../../../../../domain/inventory/relations/relations.commands.ts';
import type { Ctx } from '../../../../../domain/kernel/context.ts';
import type { Services } from '../../../../../domain/kernel/services.ts';
import type { Path, Side } from '../../../../../integrations/exchange/itsm/engine/model.types.ts';
import type { Outcome, Plan, PlanRow } from '../../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { applyRun } from '../../../../../integrations/exchange/itsm/port/apply.run.ts';
import { isRemoteError } from '../../../../../integrations/exchange/itsm/remote.ts';
import { finishRun } from '../../../../../integrations/exchange/itsm/runs/run.apply.ts';
import { planRun } from '../../../../../integrations/exchange/itsm/runs/run.plan.ts';
import { readForRun } from '../../../../../integrations/exchange/itsm/runs/run.read.ts';
import { createRunWork, type RunJob } from '../../../../../integrations/exchange/itsm/runs/run.state.ts';
import { undoRun } from '../../../../../integrations/exchange/itsm/runs/run.undo.ts';
import { readRows } from '../../../../../integrations/exchange/itsm/store/plan-rows.ts';
import { storeChanges } from '../../../../../integrations/exchange/itsm/store/sync-state.ts';
import { inTransaction, query } from '../../../../../platform/database.ts';
import { startServiceNow } from '../../../../emulators/servicenow/server.ts';
import { createVirtualClock } from '../../../../emulators/virtual-clock.ts';
import { storeRun } from '../../../../support/itsm.ts';
import { unmap } from '../memory.plans.ts';
import { connect } from '../remote.ts';
import { invertRows, loadSyncState, storeMapping } from '../stored.ts';
import {
  evaluate,
  type Landscape,
  mappingOf,
  PATHS,
  placeCard,
  placeOf,
  placeRecord,
  reviewOf,
  STEP_MS,
} from './landscape.ts';
import { Killed } from './memory.port.ts';
import type { Disruption, RunStep, Setting, UserAction } from './steps.ts';
import { withDisruptions } from './stored.disruptions.ts';

const TYPE = 'Remembered';
const TABLE = 'cmdb_ci_appl';
const PLACE_TYPE = 'RememberedPlace';
const PLACE_RELATION = 'relRememberedAt';
const PLACE: Path = PATHS[3];

/** Adapts a setting to the abilities of the emulated remote. */
export const storedSetting = (setting: Setting): Setting => ({
  ...setting,
  // ServiceNow stores no correlation ids of updates and deletions
  hasCorrelationIds: false,
  hasLookups: true,
  normalizesTexts: false,
  quarantine: 0,
});

/** Adds the card types of the histories to the metamodel. */
export async function prepareInventory(ctx: Ctx): Promise<void> {
  const fields = ['key', 'note'].map((key) => ({ key, label: key, type: 'text' }));
  const fields_schema = [{ section: 'All', fields: [...fields, { key: 'end', label: 'End', type: 'date' }] }];
  const body = { key: TYPE, label: TYPE, icon: 'memory', fields_schema };
  await changeMetamodel(ctx, { operation: 'create_card_type', key: TYPE, body }, { language: 'en' });
  const place = { key: PLACE_TYPE, label: PLACE_TYPE, icon: 'place' };
  await changeMetamodel(
    ctx,
    { operation: 'create_card_type', key: PLACE_TYPE, body: place },
    { language: 'en' },
  );
  const at = { key: PLACE_RELATION, label: 'is at', reverse_label: 'holds', cardinality: 'n:m' };
  const relation = { ...at, source_type_key: TYPE, target_type_key: PLACE_TYPE };
  await changeMetamodel(
    ctx,
    { operation: 'create_relation_type', key: PLACE_RELATION, body: relation },
    { language: 'en' },
  );
}

export interface StoredLandscape extends Landscape {
  close(): Promise<void>;
}

/** A landscape in PostgreSQL, with an emulated remote over HTTP. */
export async function createStored(services: Services, ctx: Ctx, setting: Setting): Promise<StoredLandscape> {
  const { db } = services;
  const instance = await startServiceNow({ clock: createVirtualClock(Date.now()) });
  for (const [name, type] of [
    ['u_end', 'glide_date_time'],
    ['u_note', 'string'],
    ['u_key', 'string'],
    ['u_source', 'string'],
    ['u_place', 'string'],
  ] as const)
    instance.changeField(TABLE, { name, label: name, type });
  const remote = connect(instance);
  const plain = mappingOf(setting);
  const place = { card_type_key: TYPE, remote_table: TABLE, sync_direction: plain.sync_direction };
  const { mappingId } = await storeMapping(db, place, { url: instance.base });
  await db.raw('delete from relations where type = ?', [PLACE_RELATION]);
  await db.raw('delete from cards where type = any(?::text[])', [[TYPE, PLACE_TYPE]]);
  const far = await storeMapping(
    db,
    { ...place, card_type_key: PLACE_TYPE },
    { url: `${instance.base}/places` },
  );
  const mapping: Mapping = {
    ...plain,
    ...place,
    id: mappingId,
    fields: plain.fields.map((field) =>
      field.transform_type === 'reference'
        ? { ...field, transform_config: { mapping_id: far.mappingId } }
        : field,
    ),
  };
  const columns = new Map(mapping.fields.map(({ card_field: path, remote_field: column }) => [path, column]));
  let newest: Plan | null = null;
  let open: string | null = null;

  const inputOf = (fields: Record<Path, Value>) => {
    const { [PLACE]: _, ...own } = fields;
    const { name, ...attributes } = Object.fromEntries(
      Object.entries(own).map(([path, value]) => [path.replace('attributes.', ''), value]),
    );
    return { ...(name === undefined ? {} : { name: String(name) }), attributes };
  };
  /** Creates the card and the pair of a place before it is referred to. */
  const ensurePlace = async (key: Value | undefined) => {
    const serial = placeOf(String(key ?? ''));
    if (serial === undefined || (await db('itsm_pairs').where(pairOfPlace(serial)).first('card_id'))) return;
    const rows = [{ row_index: 0, type: PLACE_TYPE, name: placeRecord(serial) }];
    const made = (await createCards(ctx, rows, false)).results[0]!.id!;
    const card_id = placeCard(serial);
    await db('cards').where({ id: made }).update({ id: card_id });
    await db('itsm_pairs').insert({ ...pairOfPlace(serial), card_id, origin: 'linked', state: 'linked' });
  };
  const pairOfPlace = (serial: number) => ({ mapping_id: far.mappingId, remote_id: placeRecord(serial) });
  /** Sets the place of a card. */
  const movePlace = async (id: string, key: Value | undefined) => {
    await ensurePlace(key);
    const present = await db('relations').where({ type: PLACE_RELATION, source_id: id });
    for (const one of present) if (one.target_id !== key) await deleteRelation(ctx, one.id);
    if (present.some(({ target_id }) => target_id === key) || typeof key !== 'string') return;
    await createRelation(ctx, { type: PLACE_RELATION, source_id: id, target_id: key } as never);
  };
  const placesOf = async (id: string): Promise<string[]> =>
    (await db('relations').where({ type: PLACE_RELATION, source_id: id }).orderBy('target_id')).map(
      ({ target_id }) => target_id,
    );
  const columnsOf = (fields: Record<Path, Value>) =>
    Object.fromEntries(
      Object.entries(fields).map(([path, value]) => [
        columns.get(path)!,
        value === null ? '' : String(value),
      ]),
    );
  const shownCards = async () => {
    const rows = await query(db).rows`
         select id, name, attributes, (select min(target_id::text) from relations r
         where r.source_id = c.id and r.type = ${PLACE_RELATION}) as place
       from cards c where type = ${TYPE} and status = 'ACTIVE' order by id`;
    return (rows as { id: string; name: string; attributes: Record<string, Value>; place: Value }[]).map(
      ({ id, name, attributes, place: at }) => ({
        id,
        fields: Object.fromEntries(
          mapping.fields.map(({ card_field: path }) => [
            path,
            path === 'name'
              ? name
              : path === PLACE
                ? at
                : (attributes[path.replace('attributes.', '')] ?? null),
          ]),
        ),
      }),
    );
  };
  const shownRecords = () =>
    instance.store.ids(TABLE).map((id) => {
      const { values } = instance.store.rows.get(id)!;
      return {
        id,
        fields: Object.fromEntries(
          mapping.fields.map(({ card_field: path, remote_field: column }) => [path, values[column] || null]),
        ),
      };
    });
  const planRows = async (runId: string): Promise<PlanRow[]> =>
    (await readRows(db, runId, -1, 100_000)).map(({ row }) => row);

  const planOf = async (id: string): Promise<Plan> => {
    const { closing } = await loadRun(db, id);
    return { id, rows: await planRows(id), stopped: null, closing } as Plan;
  };
  const outcomesOf = async (runId: string): Promise<Map<number, Outcome>> => {
    const ends = await db('itsm_plan_rows')
      .where({ run_id: runId })
      .whereNotIn('progress', ['pending', 'started'])
      .select('no', 'progress', 'message', 'made_id');
    return new Map(
      ends.map(({ no, progress, message, made_id }) => [
        no,
        { progress, message, ...(made_id === null ? {} : { createdId: made_id }) },
      ]),
    );
  };

  const jobOf = (runId: string, lock: RunJob['lock'] = async () => {}): RunJob => ({
    id: randomUUID(),
    kind: 'itsm_run',
    attempt: 1,
    payload: { run_id: runId },
    slot: null,
    ctx,
    signal: new AbortController().signal,
    resume: null,
    counts: {},
    checkpoint: async () => {},
    lock,
    progress: () => {},
    finish: async () => {},
  });

  const plan = async (step: RunStep, act: (act: UserAction) => Promise<void>): Promise<Plan> => {
    const usable = { broken: null, broken_by_drift: false, blocked_targets: {}, target_tables: {} };
    const known = await query(db)
      .rows`select watermark from itsm_sync_states where mapping_id = ${mappingId}`;
    const mapped = { ...mapping, ...usable, mapping_direction: mapping.sync_direction, again: [] };
    const id = await storeRun(db, mappingId, {
      direction: mapping.sync_direction,
      status: 'running',
      complete: step.complete || !known[0]?.watermark,
      auto_apply: true,
      mapping: JSON.stringify(mapped),
    });
    const connector = setting.hasTombstones ? remote : { ...remote, readDeletions: async () => [] };
    const work = await createRunWork(jobOf(id), await loadRun(db, id), connector);
    await readForRun(work);
    if (step.between) await act(step.between);
    const made = await planRun(work, { score: () => [], evaluate } as never, () => {});
    await db('itsm_plan_rows').where({ run_id: id }).update({ approval: 'approved' });
    await db('itsm_runs')
      .where({ id })
      .update({ stage: 'apply', closing: JSON.stringify(made.closing), plan_made_at: new Date() });
    const { stopped, closing } = made;
    return { id, rows: await planRows(id), stopped, closing };
  };

  const apply = async (
    disruptions: Disruption[],
    act: (act: UserAction) => Promise<void>,
  ): Promise<boolean> => {
    if (!open) return true;
    const { connector, lock: lockRun } = withDisruptions(remote, disruptions, act);
    const signal = new AbortController().signal;
    try {
      await applyRun({ ctx, connector, signal, lockRun }, open, {
        remoteBatch: setting.batch,
        chunk: setting.batch,
      });
    } catch (error) {
      if (error instanceof Killed) return false;
      if (isRemoteError(error, 'response_lost')) return false;
      throw error;
    }
    await finishRun(jobOf(open), open, { remoteCalls: 0, seconds: {}, findings: 0 });
    open = null;
    return true;
  };

  return {
    mapping,
    objects: async (side) => (side === 'local' ? await shownCards() : shownRecords()),
    create: async (side, fields) => {
      await ensurePlace(fields[PLACE]);
      if (side === 'remote') return instance.elsewhere.insert(TABLE, columnsOf(fields)).values.sys_id!;
      const input = inputOf(fields);
      const rows = [{ row_index: 0, type: TYPE, ...input, name: input.name ?? '' }];
      const id = (await createCards(ctx, rows, false)).results[0]!.id!;
      await movePlace(id, fields[PLACE]);
      return id;
    },
    edit: async (side, id, path, value) => {
      if (path === PLACE) await ensurePlace(value);
      if (side === 'remote') instance.elsewhere.update(id, columnsOf({ [path]: value }));
      else if (path === PLACE) await movePlace(id, value);
      else await patchCard(ctx, id, inputOf({ [path]: value }));
    },
    remove: async (side, id, forGood) => {
      if (side === 'remote') instance.elsewhere.remove(id);
      else if (forGood) await deleteCard(ctx, id, {});
      else await archiveCard(ctx, id, {});
    },
    archived: async () =>
      await db('cards')
        .where({ type: TYPE, status: 'ARCHIVED' })
        .whereNotIn('id', db('card_redirects').select('card_id'))
        .orderBy('id')
        .select('id', db.raw(`attributes ->> 'key' as key`)),
    restore: async (cardId) => void (await restoreCard(ctx, cardId, {})),
    merge: async (side: Side, from, into) => {
      if (side === 'remote') {
        instance.elsewhere.remove(from);
        return;
      }
      const [at] = await placesOf(into);
      await mergeCards(ctx, { survivor_id: into, merged_ids: [from], dry_run: false });
      // after the merge the card must have one place
      await movePlace(into, at ?? (await placesOf(into))[0]);
    },
    unmap: async (cardId) =>
      await inTransaction(db, async (sql) => {
        await lockSyncState(sql, mappingId);
        const started = { run_id: open, card_id: cardId, progress: 'started' };
        if (open && (await sql('itsm_plan_rows').where(started).first('no'))) return false;
        const { syncState, redirects } = await loadSyncState(sql, mappingId, { cardIds: [cardId] });
        await storeChanges(sql, mappingId, unmap(syncState, cardId, redirects));
        return true;
      }),
    decide: async (row, winner) => {
      const [[key, { old, new: other }] = ['', { old: null, new: null }]] = Object.entries(row.diff);
      const about = { mapping_id: mappingId, remote_id: row.remoteId!, path: key === '' ? null : key };
      await db('itsm_resolutions').where(about).delete();
      await db('itsm_resolutions').insert({
        ...about,
        winner,
        local: JSON.stringify(old),
        remote: JSON.stringify(other),
      });
    },
    ...reviewOf(() => newest),
    pairs: async () => [...(await loadSyncState(db, mappingId)).syncState.pairs.values()],
    redirects: async () => (await loadSyncState(db, mappingId)).redirects,
    isPending: async () => open !== null,
    run: async (step, act) => {
      const disruptions = [...step.disruptions];
      (instance.clock as ReturnType<typeof createVirtualClock>).advance(STEP_MS);
      if (!(await apply(disruptions, act))) return null;
      const made = await plan(step, act);
      newest = made;
      open = made.id;
      await apply(disruptions, act);
      return made;
    },
    undo: async (step, act) => {
      const disruptions = [...step.disruptions];
      (instance.clock as ReturnType<typeof createVirtualClock>).advance(STEP_MS);
      if (!(await apply(disruptions, act))) return null;
      const ended = await query(db).rows`
           select id from itsm_runs r where mapping_id = ${mappingId} and status = 'completed'
           and exists (select from itsm_plan_rows p where p.run_id = r.id and p.progress = 'applied')
           and not exists (select from itsm_runs u where u.undo_of = r.id and u.status = 'completed') order by id`;
      const of = ended[ended.length - 1 - (step.at % ended.length)]?.id;
      if (of === undefined) return null;
      open = await undoRun(ctx, of);
      await invertRows(ctx, open);
      await db('itsm_runs').where({ id: open }).update({ status: 'running' });
      const [undone, undoPlan] = [await planOf(of), await planOf(open)];
      const isDone = await apply(disruptions, act);
      return { of: undone, undoPlan, outcomes: isDone ? await outcomesOf(undoPlan.id) : undefined };
    },
    async close() {
      await remote.close();
      await instance.close();
    },
  };
}
