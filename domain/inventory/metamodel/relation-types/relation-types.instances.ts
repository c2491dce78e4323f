import type { Work } from '../../../kernel/context.ts';
import type { StoredRow } from '../../../kernel/events/row-changes.ts';
import { type ChangeRun, LargeChange, workOf } from '../changes/changes.types.ts';
import { deleteInstances } from '../changes/restate.relations.ts';

/**
 * Deletes all relations of a type that is about to go, with an event for each. What their cards lose in data quality
 * is left to what follows, which sees the type gone.
 * @throws LargeChange.
 */
export async function removeInstances(run: ChangeRun, type: StoredRow, instances: number): Promise<void> {
  if (instances === 0) return;
  if (instances > run.limit) throw new LargeChange(instances);
  const { metamodel } = run.work;
  const cardTypes = new Map(
    [...metamodel.cardTypes].map(([key, cardType]) => [
      key,
      {
        ...cardType,
        mandatoryRelations: cardType.mandatoryRelations.filter((slot) => slot.relationType !== type.key),
      },
    ]),
  );
  const writing: Work = { ...(await workOf(run, instances)), metamodel: { ...metamodel, cardTypes } };
  let done = 0;
  await deleteInstances(run, writing, type.key as string, async (rows) => {
    await run.held?.flush();
    done += rows;
    run.progress(done, instances);
  });
}
