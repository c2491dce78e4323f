/*
 * Topics of system to-dos that are notified in words of their own.
 */

/** What to-dos for those who approve flows are about. */
export const APPROVAL_TOPIC = 'process_flow_approval';

/** What the to-do of a risk's owner is about; its subject is the risk. */
export const RISK_TOPIC = 'risk';

/** What the to-do of a task's assignee is about. */
export const TASK_TOPIC = 'ppm_task';
