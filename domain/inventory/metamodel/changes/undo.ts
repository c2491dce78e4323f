import { EstateError } from '../../../../platform/errors.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import { differing, type StoredRow } from '../../../kernel/events/row-changes.ts';
import { insertRow, lockRow } from '../../../kernel/events/stored-rows.ts';
import { DEFAULT_LANGUAGE } from '../../../kernel/metamodel/languages.ts';
import type { UndoneEvent, UndoRefusal, UndoSpec } from '../../../kernel/undo/undo.types.ts';
import { removeCardType } from '../card-types/card-types.changes.ts';
import { tellCardType, writeCardType } from '../card-types/card-types.write.ts';
import { removeRelationType } from '../relation-types/relation-types.changes.ts';
import { countInstances, tellRelationType } from '../relation-types/relation-types.rows.ts';
import { writeRelationType } from '../relation-types/relation-types.write.ts';
import { countHolders, deleteRole, insertRole, ROLES_TABLE, updateRole } from '../roles/roles.rows.ts';
import { openRun } from './changes.run.ts';
import type { ChangeRun } from './changes.types.ts';
import { restateInventory } from './restate.ts';

/** The values that the event's columns had before it; columns that were not set are left out. */
function columnsBefore({ data }: UndoneEvent): StoredRow {
  return Object.fromEntries(Object.entries(data.changes).map(([column, change]) => [column, change.old]));
}

/** One event undone by the rules of the change that is its opposite. */
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

const gone = (what: string): UndoRefusal => ({ code: 'missing', message: `The ${what} is no longer there.` });

const undoCardType = undoing(async (run, event) => {
  const { work } = run;
  if (event.event_type === 'card_type.deleted') {
    tellCardType(work, null, await insertRow(work.sql, 'card_types', columnsBefore(event)));
    await restateInventory(run);
    return null;
  }
  const row = await lockRow(work.sql, 'card_types', { key: event.id });
  if (!row) return gone('card type');
  if (event.event_type === 'card_type.updated') {
    await writeCardType(run, row, differing(row, columnsBefore(event)));
    return null;
  }
  await removeCardType(run, row);
  await restateInventory(run);
  return null;
});

const undoRelationType = undoing(async (run, event) => {
  const { work } = run;
  if (event.event_type === 'relation_type.deleted') {
    const row = await insertRow(work.sql, 'relation_types', columnsBefore(event));
    await restateInventory(run);
    tellRelationType(work, null, row);
    return null;
  }
  const row = await lockRow(work.sql, 'relation_types', { key: event.id });
  if (!row) return gone('relation type');
  if (event.event_type === 'relation_type.updated') {
    await writeRelationType(run, row, differing(row, columnsBefore(event)));
    return null;
  }
  const instances = await countInstances(work, event.id);
  if (instances > 0) {
    return { code: 'instances_present', message: `There are ${instances} relations of the type.` };
  }
  await removeRelationType(run, row);
  return null;
});

const undoRole = undoing(async (run, event) => {
  const { work } = run;
  if (event.event_type === 'stakeholder_role.deleted') {
    await insertRole(work, { id: event.id, ...columnsBefore(event) });
    await restateInventory(run);
    return null;
  }
  const row = await lockRow(work.sql, ROLES_TABLE, { id: event.id });
  if (!row) return gone('stakeholder role');
  if (event.event_type === 'stakeholder_role.updated') await updateRole(work, row, columnsBefore(event));
  else {
    const holders = await countHolders(work, row.card_type_key as string, row.key as string);
    if (holders > 0) return { code: 'role_in_use', message: `The role is held ${holders} times.` };
    await deleteRole(work, row);
  }
  await restateInventory(run);
  return null;
});

const kind = (
  entity: 'card_type' | 'relation_type' | 'stakeholder_role',
  undo: UndoSpec['undo'],
): UndoSpec => ({
  entity,
  events: {
    created: [`${entity}.created`],
    updated: [`${entity}.updated`],
    deleted: [`${entity}.deleted`],
  },
  changesMetamodel: true,
  undo,
});

/** Types, relation types and roles: what was stored under them follows by events of its own. */
export const metamodelUndo: UndoSpec[] = [
  kind('card_type', undoCardType),
  kind('relation_type', undoRelationType),
  kind('stakeholder_role', undoRole),
];
