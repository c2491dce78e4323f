import { queryRows } from '../../../../platform/database.ts';
import type { Work } from '../../../kernel/context.ts';
import type { Fragment } from '../../../kernel/lists/lists.types.ts';
import type { NamedEnd } from '../../relations/relations.events.ts';
import { saveRelations } from '../../relations/relations.save.ts';
import type { StoredRelation } from '../../relations/relations.types.ts';
import type { ChangeRun } from './changes.types.ts';
import { restatedAttributes, type ValueChanges } from './values.diff.ts';

const CHUNK = 1_000;

type Step = (rows: number) => Promise<void>;

/** Restates the attributes of the relations of a type, an event for each that changes. */
export async function restateRelations(
  { ctx }: ChangeRun,
  writing: Work,
  task: { type: string; values: ValueChanges; where: Fragment },
  step: Step,
): Promise<void> {
  await eachChunk(writing, task.type, task.where, async (relations, ends) => {
    const writes = relations.map((before) => ({
      before,
      after: { ...before, attributes: restatedAttributes(before.attributes, task.values) },
    }));
    await saveRelations(writing, ctx, writes, ends);
    await step(relations.length);
  });
}

/** Deletes every relation of a type, an event for each. */
export async function deleteInstances(
  { ctx }: ChangeRun,
  writing: Work,
  type: string,
  step: Step,
): Promise<void> {
  await eachChunk(writing, type, { sql: 'true', bindings: [] }, async (relations, ends) => {
    await saveRelations(
      writing,
      ctx,
      relations.map((before) => ({ before, after: null })),
      ends,
    );
    await step(relations.length);
  });
}

async function eachChunk(
  { sql }: Work,
  type: string,
  where: Fragment,
  write: (relations: StoredRelation[], ends: Map<string, NamedEnd>) => Promise<void>,
): Promise<void> {
  for (let last = '00000000-0000-0000-0000-000000000000'; ; ) {
    const rows = await queryRows<
      StoredRelation & Record<`${'source' | 'target'}_${'name' | 'type'}`, string>
    >(
      sql,
      `select r.id, r.type, r.source_id, r.target_id, r.attributes, r.description,
         s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
       from relations r join cards s on s.id = r.source_id join cards t on t.id = r.target_id
       where r.type = ? and r.id > ?::uuid and (${where.sql}) order by r.id limit ${CHUNK}`,
      [type, last, ...where.bindings],
    );
    if (rows.length === 0) return;
    const ends = new Map<string, NamedEnd>();
    const relations = rows.map((row): StoredRelation => {
      ends.set(row.source_id, { id: row.source_id, name: row.source_name, type: row.source_type });
      ends.set(row.target_id, { id: row.target_id, name: row.target_name, type: row.target_type });
      const { id, source_id, target_id, attributes, description } = row;
      return { id, type, source_id, target_id, attributes, description };
    });
    await write(relations, ends);
    if (rows.length < CHUNK) return;
    last = rows.at(-1)!.id;
  }
}
