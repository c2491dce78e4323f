import { EstateError } from '../../../platform/errors.ts';
import type { FlowStatus } from './bpm.types.ts';

/** What people do with a flow version. */
export const flowActions = ['edit', 'delete', 'submit', 'approve', 'reject'] as const;
export type FlowAction = (typeof flowActions)[number];

/** The status from which each action is possible, and to which it leads; null: the version is gone. */
const steps: Record<FlowAction, { from: FlowStatus; to: FlowStatus | null }> = {
  edit: { from: 'draft', to: 'draft' },
  delete: { from: 'draft', to: null },
  submit: { from: 'draft', to: 'pending' },
  approve: { from: 'pending', to: 'published' },
  reject: { from: 'pending', to: 'draft' },
};

/** The status to which an action leads, or undefined where it is not possible. Publishing archives what was published. */
export function nextStatus(action: FlowAction, status: FlowStatus): FlowStatus | null | undefined {
  const { from, to } = steps[action];
  return status === from ? to : undefined;
}

/** @throws EstateError `wrong_state` telling from which status the action is possible. */
export function requireStatus(action: FlowAction, status: FlowStatus): void {
  const { from } = steps[action];
  if (status === from) return;
  throw new EstateError(
    'wrong_state',
    `The version is ${status}; only ${from} ones can take the action ${action}.`,
    {
      extra: { flow_status: status, needed: from },
    },
  );
}

/** Who may approve a submitted version. */
export interface Approvers {
  /** Those whose role on the process allows it. */
  named: readonly string[];
  /** Who has submitted it. */
  submitter: string | null;
}

/** The named ones but for who has submitted it. */
export const othersNamed = ({ named, submitter }: Approvers): string[] =>
  named.filter((id) => id !== submitter);

/**
 * Who is to be asked to approve: those who are named on the process, or else those who are asked already and still may, or
 * else everybody who may. Nobody is asked to approve what he has submitted himself where there are others.
 * @param known `holders` may approve any flow; `asked` are asked at present.
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
