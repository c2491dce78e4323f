import { roleRightsChanged } from '../../access/rights.changed.ts';
import { lockRoles } from '../../access/roles.commands.ts';
import { reloadMetamodel } from '../../inventory/calculations/calculations.commands.ts';
import { recomputeOrEnqueue } from '../../inventory/calculations/recalculate.type.ts';
import { emitCardType, writeCardType } from '../../inventory/metamodel/card-types/card-types.changes.ts';
import { openRun } from '../../inventory/metamodel/changes/changes.run.ts';
import type { ChangeRun } from '../../inventory/metamodel/changes/changes.types.ts';
import { updateInventory } from '../../inventory/metamodel/changes/restate.ts';
import {
  emitRelationType,
  requireFreePair,
  writeRelationType,
} from '../../inventory/metamodel/relation-types/relation-types.changes.ts';
import { differingMembers, type StoredRow } from '../../kernel/events/row-changes.ts';
import { Calculation, type CalculationRow } from '../../kernel/formulas/calculations.model.ts';
import { DEFAULT_LANGUAGE } from '../../kernel/metamodel/languages.ts';
import {
  CardTypeDefinition,
  type CardTypeRow,
  RelationTypeDefinition,
  type RelationTypeRow,
} from '../../kernel/metamodel/metamodel.model.ts';
import { insertRow } from '../../kernel/resources/rows.ts';
import { PROCESS } from '../../modelling/bpm/bpm.model.ts';
import { followApprovers } from '../../modelling/bpm/flow.approvers.ts';
import { roleErrors, type StoredRole } from './transfer.check.ts';
import { emitRows, type Page, RowRefused, readPage, writeRows } from './transfer.write.ts';
import { findNarrowing } from './workspace.metamodel.rules.ts';

/** Writes a page of the metamodel, and updates the data that depends on it. */
async function restating(page: Page, write: (run: ChangeRun) => Promise<void>): Promise<void> {
  const run = openRun(page.work, page.ctx, { language: DEFAULT_LANGUAGE });
  await write(run);
  await updateInventory(run);
  await run.held?.record();
}

/** The columns of a definition that the archive sets. */
const valuesOf = ({ columns }: Page, content: StoredRow): StoredRow =>
  Object.fromEntries(
    columns.filter((column) => column in content).map((column) => [column, content[column]]),
  );

/** Writes card types: an existing one gets additional fields and options, and no stored value is lost. */
export async function writeCardTypes(page: Page): Promise<void> {
  await restating(page, async (run) => {
    for (const { content, before } of await readPage(page)) {
      const values = valuesOf(page, content);
      if (before) {
        await refuseLoss(page, 'cards', before, values);
        await writeCardType(run, before as CardTypeRow, differingMembers(before, values));
      } else emitCardType(run.work, null, await insertRow(run.work.sql, CardTypeDefinition, values));
    }
  });
}

/** Writes relation types. */
export async function writeRelationTypes(page: Page): Promise<void> {
  await restating(page, async (run) => {
    for (const { content, before } of await readPage(page)) {
      const values = valuesOf(page, content);
      if (before) {
        await refuseLoss(page, 'relations', before, values);
        await writeRelationType(run, before as RelationTypeRow, differingMembers(before, values));
      } else {
        const row = await insertRow(run.work.sql, RelationTypeDefinition, values);
        await requireFreePair(run.work, row);
        emitRelationType(run.work, null, row);
      }
    }
  });
}

async function refuseLoss(
  { work }: Page,
  holder: string,
  before: StoredRow,
  after: StoredRow,
): Promise<void> {
  const loss = findNarrowing(before, { ...before, ...after });
  if (
    !loss ||
    !(await work
      .sql(holder)
      .where({ type: before.key as string })
      .first('id'))
  )
    return;
  throw new RowRefused([
    { field: '', code: 'values_do_not_fit', message: `Values here would lose their place: ${loss}.` },
  ]);
}

/** Writes parts of the metamodel that are plain rows: stakeholder roles, tag groups and tags. */
export async function writeMetamodelRows(page: Page): Promise<void> {
  await restating(page, async () => {
    const written = await writeRows(page, await readPage(page));
    await emitRows(page, written);
    // Roles on processes determine who approves their flows.
    if (written.some(({ after }) => after.card_type_key === PROCESS)) await followApprovers(page.work);
  });
}

/** Writes formulas, and computes the values of active ones. */
export async function writeCalculations(page: Page): Promise<void> {
  const { work, ctx } = page;
  const written = await writeRows(page, await readPage(page));
  const ids = written.map(({ after }) => ({ calculation_id: after.id as string }));
  if (ids.length > 0) await work.sql('calculation_runs').insert(ids).onConflict().ignore();
  await reloadMetamodel(work);
  for (const { after } of written) {
    if (after.is_active) await recomputeOrEnqueue(work, ctx, after as unknown as CalculationRow);
  }
  // Emitted after the events of the cards, so that an undo starts with it.
  await emitRows({ ...page, table: { ...page.table, table: Calculation.tableName } }, written);
}

/**
 * Writes roles with the checks of their own operations: nobody can grant by an archive permissions that they do not
 * have, and open requests to users who lose rights are reassigned.
 */
export async function writeRoles(page: Page): Promise<void> {
  const { work, ctx } = page;
  await lockRoles(work);
  const rows = await readPage(page);
  for (const { content, before } of rows) {
    const faults = roleErrors(ctx.caller, content, before as StoredRole | null);
    if (faults.length > 0) throw new RowRefused(faults);
  }
  const written = await writeRows(page, rows);
  await emitRows(page, written);
  await roleRightsChanged(
    work,
    ctx,
    written.flatMap(({ before, after }) => (before === null ? [] : [after.key as string])),
  );
}
