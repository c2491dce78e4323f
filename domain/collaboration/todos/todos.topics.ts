/* Topics of system to-dos. */

/** To approve a flow. */
export const APPROVAL_TOPIC = 'process_flow_approval';

/** To manage a risk; the subject is the risk. */
export const RISK_TOPIC = 'risk';

/** To do a task of a project. */
export const TASK_TOPIC = 'ppm_task';

/** To sign a document, or to replace a signatory who no longer can. */
export const signatureTopics = [
  'adr_signature',
  'adr_signatory_gone',
  'soaw_signature',
  'soaw_signatory_gone',
] as const;
