import { releaseDependencies } from './dependencies.ts';
import { checkPlanned } from './plan.check.ts';
import { oneDecimal, progressOf } from './plan.completion.ts';
import { loadWork } from './plan.load.ts';
import { requireNoCircle, requirePlace } from './plan.place.ts';
import { removePpm, told } from './ppm.commands.ts';
import { nameOf, type PpmKind, type PpmWrite } from './ppm.kinds.ts';
import { MAX_WBS, type PpmRow, type WbsRow } from './ppm.types.ts';
import { tasks } from './tasks.ts';

/** The work breakdown: a tree of items, of which tasks are parts. */
export const wbsItems: PpmKind = {
  entity: 'ppm_wbs',
  what: 'WBS item',
  table: 'ppm_wbs',
  most: MAX_WBS,
  alone: true,
  told: ['title'],
  defaultSort: 'sort_order',
  async list(sql, _ctx, cardId) {
    const { items, tasks: own } = await loadWork(sql, cardId);
    const found = JSON.stringify(
      Object.fromEntries(
        [...progressOf(items, own)].map(([id, { progress, tasks: n }]) => [id, [oneDecimal(progress), n]]),
      ),
    );
    const member = (place: 0 | 1) => ({ sql: `?::jsonb -> t.id::text -> ${place}`, bindings: [found] });
    return {
      name: 'ppm-wbs',
      from: 'ppm_wbs t',
      id: 't.id',
      idType: 'uuid',
      sorts: {
        sort_order: { sql: 't.sort_order', type: 'bigint', filled: true },
        created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
        title: { sql: 'fold(t.title)', type: 'text', filled: true },
        start_date: { sql: 't.start_date::text', type: 'text' },
      },
      defaultSort: 'sort_order',
      defaultDir: 'asc',
      search: `fold(t.title || ' ' || coalesce(t.description, ''))`,
      members: {
        id: 't.id',
        initiative_id: 't.card_id',
        parent_id: 't.parent_id',
        title: 't.title',
        description: 't.description',
        start_date: 't.start_date',
        end_date: 't.end_date',
        sort_order: 't.sort_order',
        is_milestone: 't.is_milestone',
        completion: 't.completion',
        assignee_id: 't.assignee_id',
        assignee_name: nameOf('assignee_id'),
        progress: member(0),
        task_count: member(1),
        created_at: 'utc(t.created_at)',
        updated_at: 'utc(t.updated_at)',
      },
    };
  },
  async check(values, { work, initiative, before }) {
    const parent = await checkPlanned(values, { work, before }, { end: 'end_date', above: 'parent_id' });
    if (parent === undefined) return;
    await requirePlace(work.sql, initiative.id, before?.id ?? null, parent);
    if (!before) return;
    await requireNoCircle(work.sql, initiative.id, { id: before.id, above: parent, field: 'parent_id' });
  },
  release: (row, write) => releaseItem(row as WbsRow, write),
};

/** Takes away the items below, and the dependencies of all of them; their tasks stay, as parts of none. */
async function releaseItem({ id }: WbsRow, write: PpmWrite): Promise<void> {
  const { work, ctx, initiative } = write;
  const { rows } = await work.sql.raw(
    `with recursive below as (
       select id, 0 as depth from ppm_wbs where id = ?::uuid
       union all
       select w.id, b.depth + 1 from below b join ppm_wbs w on w.parent_id = b.id where b.depth < 100
     )
     select to_jsonb(w) as row from below b join ppm_wbs w on w.id = b.id order by b.depth desc, w.id`,
    [id],
  );
  const items: WbsRow[] = rows.map(({ row }: { row: WbsRow }) => row);
  const ids = items.map((item) => item.id);
  await releaseDependencies(write, ids);
  const { rows: freed } = await work.sql.raw(
    `update ppm_tasks t set wbs_id = null, updated_at = clock_timestamp() where t.wbs_id = any(?::uuid[])
     returning to_jsonb(old) as before, to_jsonb(new) as after`,
    [ids],
  );
  for (const { before, after } of freed as { before: PpmRow; after: PpmRow }[]) {
    await told(work, ctx, tasks, initiative, before, after);
  }
  const { release: _, ...alone } = wbsItems;
  for (const item of items) if (item.id !== id) await removePpm(work, ctx, alone, initiative, item);
}
