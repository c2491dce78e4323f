import type { Work } from '../../kernel/context.ts';
import { insertRow } from '../../kernel/events/stored-rows.ts';
import { saveTodo } from './todos.commands.ts';
import { type TodoCard, type TodoRow, todoEvent } from './todos.events.ts';

/** What the service asks somebody to do. */
export interface SystemTodo {
  /** What it is about, such as `adr_signature`, and the id of the thing: together they find it again. */
  topic: string;
  subjectId: string;
  /** Who is asked. */
  assignedTo: string;
  description: string;
  /** The card it belongs to, whose viewers see it; null: only the one who is asked. */
  card: TodoCard | null;
  /** `YYYY-MM-DD` */
  dueDate?: string | null;
  /** The page where it is done. */
  link?: string | null;
}

/**
 * Opens a to-do that only the service closes; one that is open for the same person and thing is brought up to date.
 * The assignment is told by its event.
 */
export async function openSystemTodo(work: Work, todo: SystemTodo): Promise<void> {
  const values = {
    description: todo.description,
    due_date: todo.dueDate ?? null,
    link: todo.link ?? null,
  };
  const found = { topic: todo.topic, subject_id: todo.subjectId, assigned_to: todo.assignedTo };
  // two that open the same wait for each other
  await work.sql.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [
    `todo/${todo.topic}/${todo.subjectId}/${todo.assignedTo}`,
  ]);
  const { rows } = await work.sql.raw(
    `select to_jsonb(t) as row from todos t
     where is_system and status <> 'done' and topic = ? and subject_id = ?::uuid and assigned_to = ?::uuid for update`,
    [todo.topic, todo.subjectId, todo.assignedTo],
  );
  if (rows[0]) {
    await saveTodo(work, todo.card, rows[0].row, values);
    return;
  }
  const row = (await insertRow(work.sql, 'todos', {
    ...values,
    ...found,
    card_id: todo.card?.id ?? null,
    status: 'open',
    is_system: true,
  })) as TodoRow;
  work.emit(todoEvent(todo.card, null, row));
}

/**
 * The same for many things about which nobody has been asked before, in one statement. Who is asked about one of them
 * all the same is asked once.
 */
export async function openNewSystemTodos(
  work: Work,
  todos: readonly (SystemTodo & { card: null })[],
): Promise<void> {
  if (todos.length === 0) return;
  const { rows } = await work.sql.raw(
    `insert into todos as t (topic, subject_id, assigned_to, description, due_date, link, status, is_system)
     select v.topic, v.subject_id, v.assigned_to, v.description, v.due_date, v.link, 'open', true
     from jsonb_populate_recordset(null::todos, ?::jsonb) v
     on conflict do nothing returning to_jsonb(t) as row`,
    [
      JSON.stringify(
        todos.map((todo) => ({
          topic: todo.topic,
          subject_id: todo.subjectId,
          assigned_to: todo.assignedTo,
          description: todo.description,
          due_date: todo.dueDate ?? null,
          link: todo.link ?? null,
        })),
      ),
    ],
  );
  for (const { row } of rows as { row: TodoRow }[]) work.emit(todoEvent(null, null, row));
}

/** Which system to-dos to close: those of a thing, of one person where told. */
export interface SystemTodoFilter {
  topic: string;
  subjectId: string;
  assignedTo?: string;
}

/** Marks open system to-dos as done, or deletes them where what they asked for is no longer wanted. */
export async function closeSystemTodos(
  work: Work,
  filter: SystemTodoFilter,
  how: 'done' | 'withdrawn' = 'done',
): Promise<void> {
  const { rows } = await work.sql.raw(
    `select to_jsonb(t) as row, c.type as card_type, c.name as card_name
     from todos t left join cards c on c.id = t.card_id
     where t.is_system and t.status <> 'done' and t.topic = ? and t.subject_id = ?::uuid
       and (?::uuid is null or t.assigned_to = ?::uuid)
     order by t.id for update of t`,
    [filter.topic, filter.subjectId, filter.assignedTo ?? null, filter.assignedTo ?? null] as never,
  );
  if (rows.length === 0) return;
  const ids = rows.map(({ row }: { row: TodoRow }) => row.id);
  const written = new Map<string, TodoRow>();
  if (how === 'withdrawn') {
    await work.sql('todos').whereIn('id', ids).delete();
  } else {
    const { rows: done } = await work.sql.raw(
      `update todos t set status = 'done', updated_at = clock_timestamp() where id = any(?::uuid[])
       returning to_jsonb(t) as row`,
      [ids],
    );
    for (const { row } of done) written.set(row.id, row);
  }
  for (const { row, card_type, card_name } of rows as {
    row: TodoRow;
    card_type: string | null;
    card_name: string | null;
  }[]) {
    const card = row.card_id ? { id: row.card_id, type: card_type!, name: card_name! } : null;
    work.emit(todoEvent(card, row, written.get(row.id) ?? null));
  }
}
