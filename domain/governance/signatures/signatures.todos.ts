import { queryRows } from '../../../platform/database.ts';
import { closeSystemTodos, openSystemTodo } from '../../collaboration/todos/todos.system.ts';
import type { signatureTopics } from '../../collaboration/todos/todos.topics.ts';
import type { Work } from '../../kernel/context.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

/** What people are asked to do about a document in review: to sign it, or to see to somebody who no longer can sign. */
export type Asked = 'signature' | 'signatory_gone';

const topicOf = ({ key }: Pick<SignedKind, 'key'>, asked: Asked): (typeof signatureTopics)[number] =>
  `${key}_${asked}`;

const said: Record<Asked, (name: string) => string> = {
  signature: (name) => `Sign ${name}`,
  signatory_gone: (name) => `Somebody who was to sign ${name} no longer can: ask somebody else, or recall it`,
};

/** Asks people something about a document; who is asked already is not asked twice. */
export async function askAbout<Row extends SignedRow>(
  work: Work,
  kind: SignedKind<Row>,
  row: Row,
  asked: Asked,
  userIds: readonly string[],
): Promise<void> {
  for (const assignedTo of userIds) {
    await openSystemTodo(work, {
      topic: topicOf(kind, asked),
      subjectId: row.id,
      assignedTo,
      description: said[asked](kind.nameOf(row)),
      card: null,
      link: `${kind.page}/${row.id}`,
    });
  }
}

/** Of whom something is asked about documents at present. */
export async function askedAbout(
  { sql }: Work,
  kind: Pick<SignedKind, 'key'>,
  ids: readonly string[],
): Promise<(asked: Asked, id: string) => string[]> {
  const todos = await queryRows<{ topic: string; subject_id: string; assigned_to: string }>(
    sql,
    `select topic, subject_id, assigned_to from todos
     where is_system and status <> 'done' and topic = any(?::text[]) and subject_id = any(?::uuid[]) and assigned_to is not null
     order by id`,
    [[topicOf(kind, 'signature'), topicOf(kind, 'signatory_gone')], ids],
  );
  const of = (topic: string, id: string) =>
    todos.flatMap((todo) => (todo.topic === topic && todo.subject_id === id ? [todo.assigned_to] : []));
  return (asked, id) => of(topicOf(kind, asked), id);
}

/** Ends what was asked about a document: of everybody, or of one. */
export async function settleAsked<Row extends SignedRow>(
  work: Work,
  kind: SignedKind<Row>,
  id: string,
  asked: Asked,
  { of, how }: { of?: string; how: 'done' | 'withdrawn' },
): Promise<void> {
  await closeSystemTodos(work, { topic: topicOf(kind, asked), subjectId: id, assignedTo: of }, how);
}

/** Takes back all that people were asked, where the document goes back or is deleted. */
export async function withdrawTodos<Row extends SignedRow>(
  work: Work,
  kind: SignedKind<Row>,
  id: string,
): Promise<void> {
  await settleAsked(work, kind, id, 'signature', { how: 'withdrawn' });
  await settleAsked(work, kind, id, 'signatory_gone', { how: 'withdrawn' });
}
