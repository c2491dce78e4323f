import { closeSystemTodos, openSystemTodo } from '../collaboration/todos/todos.system.ts';
import type { Work } from '../command.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

/** What people are asked to do about a document in review: to sign it, or to see to somebody who no longer can. */
export type Asked = 'signature' | 'signatory_gone';

const topicOf = ({ key }: Pick<SignedKind, 'key'>, asked: Asked): string => `${key}_${asked}`;

const said: Record<Asked, (name: string) => string> = {
  signature: (name) => `Sign ${name}`,
  signatory_gone: (name) => `Somebody who was to sign ${name} is gone: ask somebody else, or recall it`,
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
