import { counted } from '../../../platform/counted.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { DEFAULT_LANGUAGE } from '../../kernel/metamodel/languages.ts';
import {
  CardTypeDefinition,
  RelationTypeDefinition,
  StakeholderRoleDefinition,
} from '../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import type { Resource, ResourceUndo } from '../../kernel/resources/resource.ts';
import { insertRow, lockRow } from '../../kernel/resources/rows.ts';
import { columnsBefore, needs, type UndoneEvent, type UndoRefusal } from '../../kernel/undo/undo.types.ts';
import { emitCardType, removeCardType, writeCardType } from './card-types/card-types.changes.ts';
import { updateInventory } from './changes/changes.inventory.ts';
import { metamodelChangeJob, openRun } from './changes/changes.run.ts';
import type { ChangeRun } from './changes/changes.types.ts';
import { removalNoticesJob, removeOldNotices } from './notices/notices.job.ts';
import {
  countInstances,
  emitRelationType,
  removeRelationType,
  writeRelationType,
} from './relation-types/relation-types.changes.ts';
import { followUndone, renamesUndone } from './renames/renames.ts';
import { countHolders, deleteRole, insertRole, updateRole } from './roles/roles.changes.ts';

/** Undoes an event by the inverse change, with the checks of that change. */
function undoing(act: (run: ChangeRun, event: UndoneEvent) => Promise<UndoRefusal | null>) {
  return async (work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> => {
    const run = openRun(work, ctx, { language: DEFAULT_LANGUAGE, force: true });
    try {
      const refusal = await act(run, event);
      await run.held?.record();
      return refusal;
    } catch (error) {
      if (!(error instanceof EstateError)) throw error;
      return { code: error.code, message: error.message };
    }
  };
}

const missing = (what: string): UndoRefusal => ({ code: 'missing', message: `The ${what} does not exist.` });

const undoCardType = undoing(async (run, event) => {
  const { work } = run;
  if (event.event_type === 'card_type.deleted') {
    emitCardType(work, null, await insertRow(work.sql, CardTypeDefinition, columnsBefore(event)));
    await updateInventory(run);
    return null;
  }
  const row = await lockRow(work.sql, CardTypeDefinition, { key: event.id });
  if (!row) return missing('card type');
  if (event.event_type === 'card_type.updated') {
    const changed = differingMembers<typeof row>(row, columnsBefore(event));
    const fields = ({ fields_schema }: typeof row) => fields_schema.flatMap((section) => section.fields);
    const renames = renamesUndone(fields(row), fields({ ...row, ...changed }));
    const besides = async () => await followUndone(run, '', event, renames);
    await writeCardType(run, row, changed, { renames, besides });
    return null;
  }
  await removeCardType(run, row);
  await updateInventory(run);
  return null;
});

const undoRelationType = undoing(async (run, event) => {
  const { work } = run;
  if (event.event_type === 'relation_type.deleted') {
    const row = await insertRow(work.sql, RelationTypeDefinition, columnsBefore(event));
    await updateInventory(run);
    emitRelationType(work, null, row);
    return null;
  }
  const row = await lockRow(work.sql, RelationTypeDefinition, { key: event.id });
  if (!row) return missing('relation type');
  if (event.event_type === 'relation_type.updated') {
    const changed = differingMembers<typeof row>(row, columnsBefore(event));
    const then = changed.attributes_schema ?? row.attributes_schema;
    const renames = renamesUndone(row.attributes_schema, then);
    const besides = async () => await followUndone(run, 'relation_', event, renames);
    await writeRelationType(run, row, changed, { renames, besides });
    return null;
  }
  const instances = await countInstances(work, event.id);
  if (instances > 0) {
    return { code: 'instances_present', message: `The type has ${counted(instances, 'relation')}.` };
  }
  await removeRelationType(run, row);
  return null;
});

const undoRole = undoing(async (run, event) => {
  const { work } = run;
  if (event.event_type === 'stakeholder_role.deleted') {
    await insertRole(work, { id: event.id, ...columnsBefore(event) });
    await updateInventory(run);
    return null;
  }
  const row = await lockRow(work.sql, StakeholderRoleDefinition, { id: event.id });
  if (!row) return missing('stakeholder role');
  if (event.event_type === 'stakeholder_role.updated') await updateRole(work, row, columnsBefore(event));
  else {
    const holders = await countHolders(work, row.card_type_key, row.key);
    if (holders > 0) return { code: 'role_in_use', message: `The role is assigned ${holders} times.` };
    await deleteRole(work, row);
  }
  await updateInventory(run);
  return null;
});

/** Common parts of the definitions of types: their writes update the inventory, with their own events. */
const definition = (
  entity: 'card_type' | 'relation_type' | 'stakeholder_role',
  undo: ResourceUndo['undo'],
): Omit<Resource, 'model' | 'name' | 'transfer'> => {
  const types = (kind: string) => [`${entity}.${kind}` as EventType];
  return {
    events: { created: types('created'), updated: types('updated'), deleted: types('deleted') },
    topics: [METAMODEL_TOPIC],
    metamodel: true,
    undo: { right: needs('admin.metamodel'), undo },
  };
};
const timestamps = ['created_at', 'updated_at'];

/** Card types, relation types and stakeholder roles. */
export const metamodelExtension: Extension = {
  resources: [
    {
      model: CardTypeDefinition,
      name: 'card type',
      ...definition('card_type', undoCardType),
      transfer: { key: ['key'], omitted: timestamps, derived: ['number_prefix'], label: 't.key' },
    },
    {
      model: RelationTypeDefinition,
      name: 'relation type',
      ...definition('relation_type', undoRelationType),
      transfer: { key: ['key'], omitted: timestamps, label: 't.key' },
    },
    {
      model: StakeholderRoleDefinition,
      name: 'stakeholder role',
      ...definition('stakeholder_role', undoRole),
      transfer: {
        key: ['card_type_key', 'key'],
        omitted: ['id', ...timestamps],
        label: `t.card_type_key || '/' || t.key`,
      },
    },
  ],
  jobs: [metamodelChangeJob, removalNoticesJob],
  cleanups: { deprecation_notices: removeOldNotices },
};
