import { queryRows } from '../../../platform/database.ts';
import { deleteDependencies } from './dependencies.ts';
import { oneDecimal, progressOf } from './plan.completion.ts';
import { loadWork } from './plan.load.ts';
import { requireNoCycle, requirePlace } from './plan.place.ts';
import { checkPlanned } from './ppm.checks.ts';
import { deleteLocked, recordChange } from './ppm.commands.ts';
import { nameOf, type PpmKind, type PpmWrite } from './ppm.kinds.ts';
import { type TaskRow, WbsItem, type WbsRow } from './ppm.model.ts';
import { MAX_WBS } from './ppm.types.ts';
import { tasks } from './tasks.ts';

/** The work breakdown: a tree of items which contain tasks. */
export const wbsItems: PpmKind<WbsRow> = {
  model: WbsItem,
  entity: 'ppm_wbs',
  what: 'WBS item',
  limit: MAX_WBS,
  exclusive: true,
  eventMembers: ['title'],
  sorts: {
    sort_order: { sql: 't.sort_order', type: 'bigint', filled: true },
    title: { sql: 'fold(t.title)', type: 'text', filled: true },
    start_date: { sql: 't.start_date::text', type: 'text' },
  },
  defaultSort: 'sort_order',
  search: `fold(t.title || ' ' || coalesce(t.description, ''))`,
  async members(sql, _ctx, cardId) {
    const { items, tasks: ownTasks } = await loadWork(sql, cardId);
    const progress = [...progressOf(items, ownTasks)].map(([id, found]) => [
      id,
      [oneDecimal(found.progress), found.tasks],
    ]);
    const bindings = [JSON.stringify(Object.fromEntries(progress))];
    return {
      assignee_name: nameOf('assignee_id'),
      progress: { sql: '?::jsonb -> t.id::text -> 0', bindings },
      task_count: { sql: '?::jsonb -> t.id::text -> 1', bindings },
    };
  },
  async check(values, { work, initiative, before }) {
    const parent = await checkPlanned(work.sql, values, before, { end: 'end_date', parent: 'parent_id' });
    if (parent === undefined) return;
    await requirePlace(work.sql, initiative.id, before?.id ?? null, parent);
    if (!before) return;
    await requireNoCycle(work.sql, initiative.id, { id: before.id, parent, field: 'parent_id' });
  },
  beforeDelete: deleteBelow,
};

/** Deletes the items below, and the dependencies of all of them; their tasks stay and belong to no item. */
async function deleteBelow({ id }: WbsRow, write: PpmWrite<WbsRow>): Promise<void> {
  const { work, ctx, initiative } = write;
  const items = await queryRows<{ row: WbsRow }>(
    work.sql,
    `with recursive below as (
       select id, 0 as depth from ppm_wbs where id = ?::uuid
       union all
       select w.id, b.depth + 1 from below b join ppm_wbs w on w.parent_id = b.id where b.depth < 100
     )
     select to_jsonb(w) as row from below b join ppm_wbs w on w.id = b.id order by b.depth desc, w.id`,
    [id],
  );
  const ids = items.map(({ row }) => row.id);
  await deleteDependencies(write, ids);
  const freed = await queryRows<{ before: TaskRow; after: TaskRow }>(
    work.sql,
    `update ppm_tasks t set wbs_id = null, updated_at = clock_timestamp() where t.wbs_id = any(?::uuid[])
     returning to_jsonb(old) as before, to_jsonb(new) as after`,
    [ids],
  );
  for (const { before, after } of freed) await recordChange(work, ctx, tasks, initiative, before, after);
  const { beforeDelete: _, ...single } = wbsItems;
  for (const { row } of items) {
    if (row.id !== id) await deleteLocked(work, ctx, single, initiative, row);
  }
}
