import { closeSystemTodos, openSystemTodo } from '../../collaboration/todos/todos.system.ts';
import { APPROVAL_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import type { Work } from '../../kernel/context.ts';
import { rights } from './bpm.access.ts';
import { type FlowRow, PROCESS } from './bpm.types.ts';
import { approversToAsk, othersNamed } from './flow.rules.ts';

/** Approvers who are asked. */
const MAX_ASKED = 100;

/** A version that waits for its approval, and the process that it belongs to. */
export interface PendingFlow {
  row: FlowRow;
  process: { id: string; type: string; name: string };
}

/**
 * Brings those who are asked to approve in step with who may: each is asked by a to-do, whose event tells him. A version
 * never waits for nobody, since there is always an administrator.
 *
 * Accounts and roles of those who are asked stay as they are until the command has ended, so that nobody loses the right
 * without a look at what was just asked of him.
 */
export async function askApprovers(work: Work, flows: readonly PendingFlow[]): Promise<void> {
  if (flows.length === 0) return;
  const named = await namedApprovers(
    work,
    flows.map(({ process }) => process.id),
  );
  const asked = await askedToApprove(
    work,
    flows.map(({ row }) => row.id),
  );
  const namedOf = ({ row, process }: PendingFlow) => ({
    named: named.get(process.id) ?? [],
    submitter: row.submitted_by,
  });
  const holders = flows.every((flow) => othersNamed(namedOf(flow)).length > 0)
    ? []
    : await holdersOf(work, [...new Set([...asked.values()].flat())]);
  for (const flow of flows) {
    const { row, process } = flow;
    const now = asked.get(row.id) ?? [];
    const wanted = approversToAsk({ ...namedOf(flow), holders, asked: now }).slice(0, MAX_ASKED);
    for (const assignedTo of now.filter((id) => !wanted.includes(id))) {
      await closeSystemTodos(work, { topic: APPROVAL_TOPIC, subjectId: row.id, assignedTo }, 'withdrawn');
    }
    for (const assignedTo of wanted.filter((id) => !now.includes(id))) {
      await openSystemTodo(work, {
        topic: APPROVAL_TOPIC,
        subjectId: row.id,
        assignedTo,
        description: `Approve revision ${row.revision} of the flow of ${process.name}`,
        card: process,
      });
    }
  }
}

/**
 * Follows changes of accounts, roles and stakeholders inside the same command: a version that waits for somebody who can
 * approve no longer would wait for ever, so those who can are asked.
 * @param processIds the processes of which that may have changed; all, where it is absent.
 */
export async function followApprovers(work: Work, processIds?: readonly string[]): Promise<void> {
  const { rows } = await work.sql.raw(
    `select to_jsonb(v) as row, json_build_object('id', c.id, 'type', c.type, 'name', c.name) as process
     from process_flow_versions v join cards c on c.id = v.process_id
     where v.status = 'pending' and (?::uuid[] is null or v.process_id = any(?::uuid[]))
     order by v.id for no key update of v`,
    [processIds ?? null, processIds ?? null] as never,
  );
  await askApprovers(work, rows as PendingFlow[]);
}

/** Those who hold a role on a process that lets them approve, by its id. */
async function namedApprovers(
  { sql }: Work,
  processIds: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  // from the tables: within a change of the metamodel its roles are others than those in force before
  const { rows } = await sql.raw(
    `select s.card_id, u.id from stakeholders s
     join stakeholder_role_definitions d on d.card_type_key = ? and d.key = s.role and not d.is_archived
     join users u on u.id = s.user_id join roles r on r.key = u.role
     where s.card_id = any(?::uuid[]) and d.permissions @> ?::jsonb and u.is_active and not r.is_archived
     order by u.id for share of u, r`,
    [PROCESS, processIds, JSON.stringify({ [rights.approve.card]: true })] as never,
  );
  const found = new Map<string, Set<string>>();
  for (const { card_id, id } of rows) found.set(card_id, (found.get(card_id) ?? new Set()).add(id));
  return new Map([...found].map(([card, ids]) => [card, [...ids]]));
}

/** Those whose own role lets them approve any flow: of `first` all, and of the others some. */
async function holdersOf({ sql }: Work, first: readonly string[]): Promise<string[]> {
  const { rows } = await sql.raw(
    `select u.id from users u join roles r on r.key = u.role
     where u.is_active and u.kind = 'person' and not r.is_archived
       and (r.permissions @> '{"*": true}' or r.permissions @> ?::jsonb)
     order by u.id = any(?::uuid[]) desc, u.id limit ? for share of u, r`,
    [JSON.stringify({ [rights.approve.app]: true }), first, first.length + MAX_ASKED] as never,
  );
  return rows.map(({ id }: { id: string }) => id);
}

async function askedToApprove(
  { sql }: Work,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const { rows } = await sql.raw(
    `select subject_id, array_agg(assigned_to order by assigned_to) as asked from todos
     where is_system and status <> 'done' and topic = ? and subject_id = any(?::uuid[]) and assigned_to is not null
     group by subject_id`,
    [APPROVAL_TOPIC, versionIds] as never,
  );
  return new Map(
    rows.map(({ subject_id, asked }: { subject_id: string; asked: string[] }) => [subject_id, asked]),
  );
}
