import { query } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';
import { insertRow } from '../../kernel/resources/rows.ts';
import { Todo, type TodoRow } from '../collaboration.model.ts';
import type { EventCard } from '../items.ts';
import { saveTodo } from './todos.commands.ts';
import { todoEvent } from './todos.events.ts';

/** A to-do that the service assigns and closes. */
export interface SystemTodo {
  /** What it is about, such as `adr_signature`, and the id of the object; they identify the to-do. */
  topic: string;
  subjectId: string;
  assignedTo: string;
  description: string;
  /** The card to which it belongs, whose viewers can see it; null: only the assignee can see it. */
  card: EventCard | null;
  /** `YYYY-MM-DD` */
  dueDate?: string | null;
  /** The page where it is done. */
  link?: string | null;
}

/** The columns of a system to-do. */
const columnsOf = ({ topic, subjectId, assignedTo, description, dueDate, link }: SystemTodo) => ({
  topic,
  subject_id: subjectId,
  assigned_to: assignedTo,
  description,
  due_date: dueDate ?? null,
  link: link ?? null,
});

/** Opens a system to-do, or updates the open one of the same user, topic and subject. */
export async function openSystemTodo(work: Work, todo: SystemTodo): Promise<void> {
  const values = columnsOf(todo);
  // serialises transactions that open the same to-do
  await query(work.sql)
    .run`select pg_advisory_xact_lock(hashtextextended(${`todo/${todo.topic}/${todo.subjectId}/${todo.assignedTo}`}, 0))`;
  const [existing] = await query(work.sql).rows<{ row: TodoRow }>`select to_jsonb(t) as row from todos t
     where is_system and status <> 'done' and topic = ${todo.topic} and subject_id = ${todo.subjectId}::uuid
     and assigned_to = ${todo.assignedTo}::uuid for update`;
  if (existing) {
    await saveTodo(work, todo.card, existing.row, values);
    return;
  }
  const row = await insertRow(work.sql, Todo, {
    ...values,
    card_id: todo.card?.id ?? null,
    status: 'open',
    is_system: true,
  });
  work.emit(todoEvent(todo.card, null, row));
}

/** Opens many system to-dos in one statement; those that exist stay as they are. */
export async function openNewSystemTodos(
  work: Work,
  todos: readonly (SystemTodo & { card: null })[],
): Promise<void> {
  if (todos.length === 0) return;
  const opened = await query(work.sql).column<TodoRow>`
    insert into todos as t (topic, subject_id, assigned_to, description, due_date, link, status, is_system)
    select v.topic, v.subject_id, v.assigned_to, v.description, v.due_date, v.link, 'open', true
    from jsonb_populate_recordset(null::todos, ${JSON.stringify(todos.map(columnsOf))}::jsonb) v
    on conflict do nothing returning to_jsonb(t) as row`;
  for (const row of opened) work.emit(todoEvent(null, null, row));
}

/** The system to-dos of a topic and subject; with `assignedTo` only those of one user. */
export interface SystemTodoFilter {
  topic: string;
  subjectId: string;
  assignedTo?: string;
}

/** Marks open system to-dos as done, or deletes them when they are withdrawn. */
export async function closeSystemTodos(
  work: Work,
  filter: SystemTodoFilter,
  how: 'done' | 'withdrawn' = 'done',
): Promise<void> {
  const open = await query(work.sql).rows<{
    row: TodoRow;
    card_type: string | null;
    card_name: string | null;
  }>`select to_jsonb(t) as row, c.type as card_type, c.name as card_name
     from todos t left join cards c on c.id = t.card_id
     where t.is_system and t.status <> 'done' and t.topic = ${filter.topic}
     and t.subject_id = ${filter.subjectId}::uuid
       and (${filter.assignedTo ?? null}::uuid is null or t.assigned_to = ${filter.assignedTo ?? null}::uuid)
     order by t.id for update of t`;
  if (open.length === 0) return;
  const ids = open.map(({ row }) => row.id);
  const written = new Map<string, TodoRow>();
  if (how === 'withdrawn') {
    await work.sql('todos').whereIn('id', ids).delete();
  } else {
    const done = await query(work.sql).column<TodoRow>`update todos t
      set status = 'done', updated_at = clock_timestamp() where id = any(${ids}::uuid[])
       returning to_jsonb(t) as row`;
    for (const row of done) written.set(row.id, row);
  }
  for (const { row, card_type, card_name } of open) {
    const card = row.card_id ? { id: row.card_id, type: card_type!, name: card_name! } : null;
    work.emit(todoEvent(card, row, written.get(row.id) ?? null));
  }
}

/** The users with open system to-dos, by topic and subject. */
export async function readAssignees(
  { sql }: Work,
  topics: readonly string[],
  subjectIds: readonly string[],
): Promise<(topic: string, subjectId: string) => string[]> {
  const todos = await query(sql).rows<{ key: string; assigned_to: string }>`
    select topic || '/' || subject_id as key, assigned_to from todos
    where is_system and status <> 'done' and topic = any(${topics}::text[])
      and subject_id = any(${subjectIds}::uuid[]) and assigned_to is not null
    order by id`;
  const byKey = Map.groupBy(todos, ({ key }) => key);
  return (topic, id) => (byKey.get(`${topic}/${id}`) ?? []).map((todo) => todo.assigned_to);
}

/** Opens a to-do for each wanted user, and withdraws those of others. @param current the users with an open one. */
export async function assignSystemTodos(
  work: Work,
  todo: Omit<SystemTodo, 'assignedTo'>,
  current: readonly string[],
  wanted: readonly string[],
): Promise<void> {
  const { topic, subjectId } = todo;
  for (const assignedTo of current.filter((id) => !wanted.includes(id))) {
    await closeSystemTodos(work, { topic, subjectId, assignedTo }, 'withdrawn');
  }
  for (const assignedTo of wanted.filter((id) => !current.includes(id))) {
    await openSystemTodo(work, { ...todo, assignedTo });
  }
}

/** Deletes the open system to-dos of users who are deleted, and unassigns their other unfinished ones. */
export async function unassignTodos(work: Work, userIds: readonly string[]): Promise<void> {
  const rows = await query(work.sql).rows<{ before: TodoRow; after: TodoRow | null; card: EventCard | null }>`
       with unfinished as (
       select t.id from todos t where t.assigned_to = any(${userIds}::uuid[]) and t.status <> 'done'
       order by t.id for update
     ), withdrawn as (
       delete from todos t using unfinished u where t.id = u.id and t.is_system
       returning to_jsonb(t) as before, null::jsonb as after, t.card_id
     ), unassigned as (
       update todos t set assigned_to = null, updated_at = clock_timestamp() from unfinished u
       where t.id = u.id and not t.is_system
       returning to_jsonb(old) as before, to_jsonb(new) as after, new.card_id
     )
     select w.before, w.after, case when c.id is not null then jsonb_build_object('id', c.id, 'type', c.type,
     'name', c.name) end as card
     from (select * from withdrawn union all select * from unassigned) w left join cards c on c.id = w.card_id
     order by w.before ->> 'id'`;
  for (const { before, after, card } of rows) work.emit(todoEvent(card, before, after));
}
