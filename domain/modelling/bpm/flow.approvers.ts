import { query } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { assignSystemTodos, readAssignees } from '../../collaboration/todos/todos.system.ts';
import { APPROVAL_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import type { Work } from '../../kernel/context.ts';
import { rights } from './bpm.access.ts';
import { type FlowRow, type FlowStatus, PROCESS } from './bpm.model.ts';

/** The actions on a flow version. */
export const flowActions = ['edit', 'delete', 'submit', 'approve', 'reject'] as const;
export type FlowAction = (typeof flowActions)[number];

/** The status that each action requires, and the one that it leads to; null: the version is deleted. */
const steps: Record<FlowAction, { from: FlowStatus; to: FlowStatus | null }> = {
  edit: { from: 'draft', to: 'draft' },
  delete: { from: 'draft', to: null },
  submit: { from: 'draft', to: 'pending' },
  approve: { from: 'pending', to: 'published' },
  reject: { from: 'pending', to: 'draft' },
};

/** The status to which an action leads, or undefined where it is not possible. Approval archives the published version. */
export function nextStatus(action: FlowAction, status: FlowStatus): FlowStatus | null | undefined {
  const { from, to } = steps[action];
  return status === from ? to : undefined;
}

/** @throws EstateError `wrong_state` with the status that the action requires. */
export function requireStatus(action: FlowAction, status: FlowStatus): void {
  const { from } = steps[action];
  if (status === from) return;
  const detail = `The version is ${status}; the action ${action} requires a ${from} one.`;
  throw new EstateError('wrong_state', detail, { extra: { flow_status: status, needed: from } });
}

/** Who may approve a submitted version. */
interface Approvers {
  /** Users whose stakeholder role on the process allows it. */
  named: readonly string[];
  /** The user who has submitted it. */
  submitter: string | null;
}

/** The named approvers except for the submitter. */
const othersNamed = ({ named, submitter }: Approvers): string[] => named.filter((id) => id !== submitter);

/**
 * The users who are to approve a version: those named on the process, or else those who have a to-do and still may, or
 * else everybody who may. The submitter is only asked where nobody else may approve.
 * @param known `holders` may approve any flow; `asked` have a to-do.
 */
export function selectApprovers(
  known: Approvers & { holders: readonly string[]; asked: readonly string[] },
): string[] {
  const others = othersNamed(known);
  if (others.length > 0) return others;
  const able = [...new Set([...known.named, ...known.holders])];
  const still = known.asked.filter((id) => able.includes(id));
  if (still.length > 0) return still;
  const withoutSubmitter = able.filter((id) => id !== known.submitter);
  return withoutSubmitter.length > 0 ? withoutSubmitter : able;
}

/** The largest number of approvers who get a to-do. */
const MAX_ASKED = 100;

/** A pending version with its process. */
interface PendingFlow {
  row: FlowRow;
  process: { id: string; type: string; name: string };
}

/**
 * Opens a to-do for each user who is to approve a version, and withdraws the to-dos of others. There is always an
 * approver, because there is always an administrator.
 *
 * Accounts and roles of approvers are locked until the end of the transaction, so that nobody loses the right while the
 * to-do is being opened.
 */
export async function requestApprovals(work: Work, flows: readonly PendingFlow[]): Promise<void> {
  if (flows.length === 0) return;
  const processes = flows.map(({ process }) => process.id);
  const named = await namedApprovers(work, processes);
  const ids = flows.map(({ row }) => row.id);
  const askedFor = await readAssignees(work, [APPROVAL_TOPIC], ids);
  const asked = new Map(ids.map((id) => [id, askedFor(APPROVAL_TOPIC, id)]));
  const namedOf = ({ row, process }: PendingFlow) => ({
    named: named.get(process.id) ?? [],
    submitter: row.submitted_by,
  });
  const holders = flows.every((flow) => othersNamed(namedOf(flow)).length > 0)
    ? []
    : await holdersOf(work, [...new Set([...asked.values()].flat())]);
  for (const flow of flows) {
    const { row, process } = flow;
    const current = asked.get(row.id) ?? [];
    const wanted = selectApprovers({ ...namedOf(flow), holders, asked: current }).slice(0, MAX_ASKED);
    const description = `Approve revision ${row.revision} of the flow of ${process.name}`;
    const todo = { topic: APPROVAL_TOPIC, subjectId: row.id, description, card: process };
    await assignSystemTodos(work, todo, current, wanted);
  }
}

/**
 * Updates the approvers of pending versions after changes of accounts, roles and stakeholders, inside the same command.
 * @param processIds the processes whose stakeholders may have changed; all by default.
 */
export async function followApprovers(work: Work, processIds?: readonly string[]): Promise<void> {
  const flows = await query(work.sql).rows<PendingFlow>`select to_jsonb(v) as row,
    json_build_object('id', c.id, 'type', c.type, 'name', c.name) as process
     from process_flow_versions v join cards c on c.id = v.process_id
     where v.status = 'pending'
     and (${processIds ?? null}::uuid[] is null or v.process_id = any(${processIds ?? null}::uuid[]))
     order by v.id for no key update of v`;
  await requestApprovals(work, flows);
}

/** The users whose stakeholder role on a process allows them to approve, by the id of the process. */
async function namedApprovers(
  { sql }: Work,
  processIds: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  // read from the tables, because a command that changes the metamodel still has the compiled one from before
  const rows = await query(sql).rows<{ card_id: string; id: string }>`select s.card_id, u.id
    from stakeholders s
     join stakeholder_role_definitions d on d.card_type_key = ${PROCESS} and d.key = s.role
     and not d.is_archived
     join users u on u.id = s.user_id join roles r on r.key = u.role
     where s.card_id = any(${processIds}::uuid[])
     and d.permissions @> ${JSON.stringify({ [rights.approve.card]: true })}::jsonb and u.is_active
     and not r.is_archived
     order by u.id for share of u, r`;
  const found = new Map<string, Set<string>>();
  for (const { card_id, id } of rows) found.set(card_id, (found.get(card_id) ?? new Set()).add(id));
  return new Map([...found].map(([card, ids]) => [card, [...ids]]));
}

/** Users whose role allows them to approve any flow: all of `first`, and a bounded number of others. */
async function holdersOf({ sql }: Work, first: readonly string[]): Promise<string[]> {
  return await query(sql).column`select u.id from users u
    join roles r on r.key = u.role
     where u.is_active and u.kind = 'person' and not r.is_archived
       and (r.permissions @> '{"*": true}'
       or r.permissions @> ${JSON.stringify({ [rights.approve.app]: true })}::jsonb)
     order by u.id = any(${first}::uuid[]) desc, u.id limit ${first.length + MAX_ASKED} for share of u, r`;
}
