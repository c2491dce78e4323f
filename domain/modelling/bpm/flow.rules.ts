import { EstateError } from '../../../platform/errors.ts';
import type { FlowStatus } from './bpm.types.ts';

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
  throw new EstateError(
    'wrong_state',
    `The version is ${status}; the action ${action} requires a ${from} one.`,
    {
      extra: { flow_status: status, needed: from },
    },
  );
}

/** Who may approve a submitted version. */
export interface Approvers {
  /** Users whose stakeholder role on the process allows it. */
  named: readonly string[];
  /** The user who has submitted it. */
  submitter: string | null;
}

/** The named approvers except for the submitter. */
export const othersNamed = ({ named, submitter }: Approvers): string[] =>
  named.filter((id) => id !== submitter);

/**
 * The users who are to approve a version: those named on the process, or else those who have a to-do and still may, or
 * else everybody who may. The submitter is only asked where nobody else may approve.
 * @param known `holders` may approve any flow; `asked` have a to-do.
 */
export function approversToAsk(
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
