import { isDeepStrictEqual } from 'node:util';
import type { ConnectionKind } from '../../../../domain/exchange/itsm/connections.input.ts';
import { MANAGE_SYNC } from '../../../../domain/exchange/itsm/connections.queries.ts';
import {
  loadMappedTypes,
  loadStoredMapping,
  refuseDuplicate,
  requireMappingPermissions,
  takeOverConnection,
} from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { MappingCreate, MappingPatch } from '../../../../domain/exchange/itsm/mappings.input.ts';
import { mappingText } from '../../../../domain/exchange/itsm/mappings.queries.ts';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { command } from '../../../../domain/kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../../../domain/kernel/context.ts';
import { rowChanges } from '../../../../domain/kernel/events/row-changes.ts';
import type { JsonText } from '../../../../domain/kernel/lists/lists.types.ts';
import { requirePermission } from '../../../../domain/kernel/permissions/policy.ts';
import { query } from '../../../../platform/database.ts';
import { EstateError, invalidField } from '../../../../platform/errors.ts';
import { applyInput, checkSettings, type MappingSettings, requireDirection } from './mapping.settings.ts';
import {
  columnsOf,
  deleteChangedBases,
  readMappingData,
  requireFullRead,
  writeRows,
  writeSchedule,
} from './mapping.store.ts';

const mappingExists = ['mapping_exists', 'This table is already mapped to this card type.'] as const;

/**
 * Maps a card type to a table of a connection's remote, without calling it.
 * @throws EstateError `forbidden`, `mapping_exists`, `validation_failed`.
 */
export async function createMapping(ctx: Ctx, input: MappingCreate): Promise<JsonText> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  return await command(ctx, async (work) => {
    const { sql, metamodel } = work;
    const { connection_id, ...rest } = input;
    const [kind] = await query(sql)
      .column<ConnectionKind>`select kind from itsm_connections where id = ${connection_id} for key share`;
    if (kind === undefined) throw invalidField('connection_id', 'unknown_value', 'is no connection');
    const id = await query(sql).value<string>`select uuidv7()`;
    const settings = applyInput(metamodel, rest);
    requireMappingPermissions(ctx.caller, metamodel, settings);
    requireDirection(kind, settings);
    await checkSettings(ctx, metamodel, { ...settings, id }, await loadMappedTypes(sql, connection_id));
    const data = { id, connection_id, ...columnsOf(settings), created_by: ctx.caller.userId };
    await refuseDuplicate(sql('itsm_mappings').insert(data), ...mappingExists);
    await writeRows(sql, id, settings);
    if (input.schedule) await writeSchedule(sql, id, input.schedule);
    work.emit({
      event_type: 'itsm_mapping.created',
      data: { id, connection_id, changes: rowChanges(null, await readMappingData(sql, id)) },
    });
    return await mappingText(sql, metamodel, id);
  });
}

/** Members that may be changed while a run is open. */
const changeableDuringRun: readonly (keyof MappingSettings)[] = [
  'is_active',
  'complete_every_hours',
  'follows_changes',
];

/**
 * Changes a mapping; rows of fields and of relations are replaced. A user who changes what it does becomes its owner and is
 * notified of its runs. A user who changes the direction becomes the owner of the connection.
 * @throws EstateError `forbidden`, `itsm_run_open`, `mapping_exists`, `not_found`, `precondition_failed`,
 * `validation_failed`, `wrong_state` when the type or the table is changed of a mapping that has pairs.
 */
export async function patchMapping(ctx: Ctx, id: string, patch: MappingPatch): Promise<JsonText> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  return await command(ctx, async (work) => {
    const { sql, metamodel } = work;
    const before = await lockMapping(ctx, work, id);
    const old = await readMappingData(sql, id);
    const settings = applyInput(metamodel, patch, settingsOf(before));
    const changed = changedMembers(before, settings);
    const pauses = patch.is_active === false && changed.every((member) => member === 'is_active');
    if (!pauses || patch.schedule) requireMappingPermissions(ctx.caller, metamodel, settings);
    const content = changed.filter((member) => !changeableDuringRun.includes(member));
    if (content.includes('sync_direction')) {
      const { kind } = await sql('itsm_connections').where({ id: before.connection_id }).first('kind');
      requireDirection(kind, settings);
    }
    if (changed.length > 0) {
      const mappedTypes = await loadMappedTypes(sql, before.connection_id);
      await checkSettings(ctx, metamodel, { ...settings, id }, mappedTypes);
    }
    if (content.length > 0) {
      await requireNoRun(work, id);
      if (content.includes('card_type_key') || content.includes('remote_table'))
        await requireNoPairs(work, id);
      await replaceSettings(work, ctx, before, settings);
      if (content.includes('sync_direction')) await takeOverConnection(ctx, work, before.connection_id);
    } else if (changed.length > 0) await sql('itsm_mappings').where({ id }).update(columnsOf(settings));
    if (patch.schedule !== undefined) await writeSchedule(sql, id, patch.schedule);
    const changes = rowChanges(old, await readMappingData(sql, id));
    if (Object.keys(changes).length > 0) {
      if (changed.length > 0) await sql('itsm_mappings').where({ id }).update({ updated_at: sql.fn.now() });
      const data = { id, connection_id: before.connection_id, changes };
      work.emit({ event_type: 'itsm_mapping.updated', data });
    }
    return await mappingText(sql, metamodel, id);
  });
}

/** Members that do not affect which values are synchronised. */
const limitMembers: readonly (keyof MappingSettings)[] = [
  'auto_apply',
  'auto_apply_max_changes',
  'auto_apply_max_ratio',
  'max_deletions',
  'max_deletion_ratio',
  'quarantine_minutes',
];

/** Members that select records and cards: unchanged ones may be included after a change. */
const selectingMembers: readonly (keyof MappingSettings)[] = [
  'card_type_key',
  'remote_table',
  'sync_direction',
  'filter_query',
  'card_filter',
];

/** Whether the mapping of fields has changed, apart from the rules for conflicts. */
const mapsDifferently = (before: MappingSettings, after: MappingSettings): boolean => {
  const mapped = ({ fields }: MappingSettings) => fields.map(({ direction: _, ...row }) => row);
  return !isDeepStrictEqual(mapped(before), mapped(after));
};

async function replaceSettings(
  work: Work,
  ctx: Ctx,
  before: Mapping,
  settings: MappingSettings,
): Promise<void> {
  const { sql } = work;
  const { id } = before;
  const changed = changedMembers(before, settings);
  const needsDriftCheck = changed.some((member) => !limitMembers.includes(member));
  await refuseDuplicate(
    sql('itsm_mappings')
      .where({ id })
      .update({
        ...columnsOf(settings),
        created_by: ctx.caller.userId,
        // the next run checks the dictionary again
        ...(needsDriftCheck ? { drift: null, drift_checked_at: null } : {}),
        ...(settings.remote_table === before.remote_table ? {} : { dictionary: null, dictionary_at: null }),
      }),
    ...mappingExists,
  );
  await writeRows(sql, id, settings);
  await deleteChangedBases(sql, id, before, settings);
  if (changed.some((member) => selectingMembers.includes(member)) || mapsDifferently(before, settings))
    await requireFullRead(sql, id);
  // relations of other types have not been read: the next run reads all relations, but not all records
  if (changed.includes('relations')) {
    await sql('itsm_sync_states').where({ mapping_id: id }).update({ links_watermark: null });
  }
}

/**
 * Ends a mapping: its pairs and the plans of its runs are deleted; cards, records and the list of its
 * runs remain.
 * @throws EstateError `forbidden`, `itsm_run_open`, `mapping_in_use`, `not_found`, `precondition_failed`.
 */
export async function deleteMapping(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async (work) => {
    const { sql } = work;
    const before = await lockMapping(ctx, work, id);
    const old = await readMappingData(sql, id);
    await requireNoRun(work, id);
    await requireUnused(work, before);
    await query(sql).run`with runs as (select id from itsm_runs where mapping_id = ${id}),
         plan as (delete from itsm_plan_rows p using runs r where p.run_id = r.id),
         records as (delete from itsm_run_records p using runs r where p.run_id = r.id)
       delete from itsm_mappings where id = ${id}`;
    if (before.schedule_key !== null) await sql('job_schedules').where({ key: before.schedule_key }).delete();
    const data = { id, connection_id: before.connection_id, changes: rowChanges(old, null) };
    work.emit({ event_type: 'itsm_mapping.deleted', data });
  });
}

/** @throws EstateError `not_found`, `precondition_failed`. */
async function lockMapping(ctx: Ctx, { sql, metamodel }: Work, id: string): Promise<Mapping> {
  await query(sql).run`select from itsm_mappings where id = ${id} for update`;
  const row = await loadStoredMapping(sql, id);
  checkIfMatch(ctx, await mappingText(sql, metamodel, id));
  return row;
}

const settingsOf = ({
  id: _,
  connection_id: __,
  schedule_key: ___,
  dictionary: ____,
  drift: _____,
  created_by: ______,
  ...settings
}: Mapping): MappingSettings => settings;

function changedMembers(before: MappingSettings, after: MappingSettings): (keyof MappingSettings)[] {
  return (Object.keys(after) as (keyof MappingSettings)[]).filter(
    (member) => !isDeepStrictEqual(before[member], after[member]),
  );
}

async function requireNoRun({ sql }: Work, id: string): Promise<void> {
  const run = await sql('itsm_runs')
    .where({ mapping_id: id })
    .whereIn('status', ['queued', 'running', 'review'])
    .first('id', 'status');
  if (!run) return;
  throw new EstateError(
    'itsm_run_open',
    run.status === 'review'
      ? 'The plan of a run waits for review: apply it or cancel the run first.'
      : 'A run is active: wait for its end, or cancel it.',
    { extra: { run_id: run.id } },
  );
}

async function requireNoPairs({ sql }: Work, id: string): Promise<void> {
  const pair = await sql('itsm_pairs').where({ mapping_id: id }).first('remote_id');
  if (!pair) return;
  const detail = 'The mapping has pairs: create another mapping for another card type or table.';
  throw new EstateError('wrong_state', detail);
}

async function requireUnused({ sql }: Work, { id }: Mapping): Promise<void> {
  const mapping_ids = await query(sql)
    .column<string>`select mapping_id from itsm_relation_mappings where target_mapping_id = ${id} and mapping_id <> ${id}
     union
     select mapping_id from itsm_field_mappings
     where transform_type = 'reference' and transform_config ->> 'mapping_id' = ${id} and mapping_id <> ${id}
     order by 1`;
  if (mapping_ids.length === 0) return;
  const message = 'Other mappings refer to its cards, by a relation or a reference field.';
  throw new EstateError('mapping_in_use', message, { extra: { mapping_ids } });
}
