/**
 * The closed list of error codes. Each has the HTTP status it is answered with and the title of its
 * problem type (RFC 9457). A new kind of refusal gets a line here, so that the list in the API's
 * description is complete by construction.
 */
export const errorCodes = {
  ai_budget_spent: { status: 409, title: 'The budget for AI is spent' },
  ai_not_configured: { status: 409, title: 'No provider of AI is set up' },
  approval_blocked_mandatory_missing: { status: 409, title: 'Approval is blocked' },
  as_of_expired: { status: 422, title: 'The moment is no longer kept' },
  bad_body: { status: 400, title: 'The body cannot be parsed' },
  bad_request: { status: 400, title: 'The request is malformed' },
  built_in_frozen: { status: 409, title: 'What is built in cannot be changed in this way' },
  calculation_cycle: { status: 409, title: 'Formulas would wait for each other' },
  capability_too_deep: { status: 409, title: 'The capability would lie too deep' },
  cardinality_exceeded: { status: 409, title: 'The relation type allows no further relation' },
  cardinality_violated: { status: 409, title: 'Existing relations do not fit' },
  cards_present: { status: 409, title: 'The type has cards' },
  children_present: { status: 409, title: 'The card has children' },
  conflict: { status: 409, title: 'The request conflicts with the present state' },
  cursor_expired: { status: 422, title: 'The cursor is no longer kept' },
  cursor_mismatch: { status: 422, title: 'The cursor belongs to another list' },
  document_signed: { status: 403, title: 'The document is signed' },
  duplicate_link: { status: 409, title: 'The decision is linked to the card already' },
  duplicate_relation: { status: 409, title: 'The relation exists already' },
  duplicate_stakeholder: { status: 409, title: 'The user holds this role already' },
  duplicate_dependency: { status: 409, title: 'The dependency exists already' },
  email_taken: { status: 409, title: 'The e-mail address is in use' },
  expectation_failed: { status: 417, title: 'The expectation is not met' },
  external_id_taken: { status: 409, title: 'The external id is in use' },
  field_calculated: { status: 409, title: 'Another formula computes the field' },
  forbidden: { status: 403, title: 'Not permitted' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  idempotency_in_progress: { status: 409, title: 'The first request with this key is still running' },
  idempotency_key_reused: { status: 409, title: 'The idempotency key was used for another request' },
  instances_present: { status: 409, title: 'The relation type has relations' },
  internal: { status: 500, title: 'Internal error' },
  invalid_credentials: { status: 401, title: 'Login failed' },
  itsm_run_open: { status: 409, title: 'A run of the mapping is not over' },
  job_not_cancellable: { status: 409, title: 'The job has ended' },
  job_not_retryable: { status: 409, title: 'The job cannot be retried' },
  job_result_missing: { status: 404, title: 'The job has no result file' },
  key_taken: { status: 409, title: 'The key is in use' },
  last_active_role: { status: 409, title: 'A type needs an active stakeholder role' },
  length_required: { status: 411, title: 'Length required' },
  limit_reached: { status: 409, title: 'There are as many as there may be' },
  mail_not_configured: { status: 409, title: 'No mail server is set up' },
  mail_refused: { status: 422, title: 'The mail server refuses the mail' },
  mail_unconfirmed: { status: 409, title: 'The mail may have been sent' },
  mapping_exists: { status: 409, title: 'The table is mapped to the type already' },
  mapping_in_use: { status: 409, title: 'Other mappings refer to it' },
  mappings_present: { status: 409, title: 'The connection has mappings' },
  merge_conflict: { status: 409, title: 'The merge cannot be undone as it was' },
  merged: { status: 308, title: 'The card was merged into another' },
  merged_card: { status: 409, title: 'The card was merged into another' },
  metamodel_busy: { status: 409, title: 'Long writes keep the metamodel from being changed' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  module_disabled: { status: 403, title: 'The module is switched off' },
  name_taken: { status: 409, title: 'The name is in use' },
  not_signatory: { status: 403, title: 'Only those who are asked sign or reject' },
  not_acceptable: { status: 406, title: 'No such format' },
  not_found: { status: 404, title: 'Not found' },
  odata_invalid_query: { status: 400, title: 'The query cannot be carried out' },
  odata_not_implemented: { status: 501, title: 'This part of OData is not supported' },
  origin_refused: { status: 403, title: 'The origin is not allowed' },
  pair_taken: { status: 409, title: 'These card types have a relation type already' },
  observer_role_unavailable: { status: 409, title: 'Cards of this type have no observers' },
  parent_cycle: { status: 422, title: 'A card cannot be its own ancestor' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  position_expired: { status: 410, title: 'The position is no longer kept' },
  position_ahead: { status: 409, title: 'The position has not been reached' },
  precondition_failed: { status: 412, title: 'The resource has changed' },
  query_too_heavy: { status: 422, title: 'The query would take too long' },
  question_not_understood: { status: 422, title: 'The question is not understood' },
  range_not_satisfiable: { status: 416, title: 'The range cannot be served' },
  recent_login_required: { status: 403, title: 'A recent login is needed' },
  registration_closed: { status: 403, title: 'Self-registration is closed' },
  relation_types_present: { status: 409, title: 'Relation types join the type' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  role_in_use: { status: 409, title: 'Somebody holds the stakeholder role' },
  rollback_conflicts: { status: 409, title: 'Later writes are in the way' },
  rollback_unsupported: { status: 409, title: 'The batch holds what cannot be undone' },
  scim_invalid_filter: { status: 400, title: 'The filter cannot be read' },
  scim_invalid_path: { status: 400, title: 'The path leads nowhere' },
  scim_invalid_syntax: { status: 400, title: 'The request is not as RFC 7644 has it' },
  scim_invalid_value: { status: 400, title: 'A value is missing or does not fit' },
  scim_mutability: { status: 400, title: 'The attribute cannot be changed' },
  scim_not_implemented: { status: 501, title: 'This part of SCIM is not supported' },
  scim_no_target: { status: 400, title: 'The path finds nothing' },
  scim_uniqueness: { status: 409, title: 'The value is in use' },
  session_required: { status: 403, title: 'A login of your own is needed' },
  sibling_name_taken: { status: 409, title: 'A sibling has this name' },
  single_tag: { status: 409, title: 'The group allows one tag' },
  slug_taken: { status: 409, title: 'The slug is in use' },
  sso_refused: { status: 403, title: 'The account at the provider is not let in' },
  sso_required: { status: 403, title: 'People log in through the provider' },
  storage_full: { status: 507, title: 'No space is left' },
  storage_refused: { status: 409, title: 'The storage refuses the file' },
  survey_incomplete: { status: 409, title: 'The survey cannot be sent yet' },
  survey_too_large: { status: 409, title: 'The survey would put too many questions' },
  system_role: { status: 403, title: 'The role belongs to the system' },
  tag_in_use: { status: 409, title: 'Tags of cards would not fit' },
  thread_full: { status: 409, title: 'The thread is full' },
  too_many_descendants: { status: 409, title: 'Too many cards lie below' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  two_factor_required: { status: 401, title: 'The second factor is needed' },
  unauthorized: { status: 401, title: 'Login required' },
  unavailable: { status: 503, title: 'The service is not ready' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  upstream_failed: { status: 502, title: 'A remote system failed' },
  use_operation: { status: 422, title: 'This field is changed by an operation of its own' },
  validation_failed: { status: 422, title: 'The input is not valid' },
  values_do_not_fit: { status: 409, title: 'Stored values do not fit the change' },
  worker_lost: { status: 500, title: 'Worker after worker was lost' },
  wrong_state: { status: 409, title: 'Not possible in the present state' },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** One error in the input: the field's path (`attributes.timeModel`), a code and a message. */
export interface FieldError {
  field: string;
  code: string;
  message: string;
}

interface EstateErrorOptions {
  /** Errors by field; for the codes with status 422. */
  errors?: FieldError[];
  /** Further members of the problem document, such as `child_count`. */
  extra?: Record<string, unknown>;
  /** Headers of the answer, such as `Retry-After` or `Allow`. */
  headers?: Record<string, string>;
  cause?: unknown;
  /** The object that was not found; not returned to clients. */
  subject?: { kind: string; id: string };
}

/** The class of all expected errors: a code of the closed list and a message for the client. */
export class EstateError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: FieldError[] | undefined;
  readonly extra: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly subject: { kind: string; id: string } | undefined;

  constructor(code: ErrorCode, detail: string, options: EstateErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EstateError';
    this.code = code;
    this.status = errorCodes[code].status;
    this.errors = options.errors;
    this.extra = options.extra ?? {};
    this.headers = options.headers ?? {};
    this.subject = options.subject;
  }
}

/** A 422 that names one field. */
export function invalidField(field: string, code: string, message: string): EstateError {
  const errors = [{ field, code, message }];
  return /^[A-Z].*\.$/s.test(message)
    ? new EstateError('validation_failed', message, { errors })
    : invalidFields(errors);
}

/** A 422 that names several fields; `errors` must not be empty. */
export function invalidFields(errors: FieldError[]): EstateError {
  const first = errors[0]!;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new EstateError('validation_failed', `${first.field}: ${first.message}${more}`, { errors });
}

/** A 404 for an object of the given kind, such as `card`. */
export function notFound(kind: string, id: string): EstateError {
  return new EstateError('not_found', `There is no ${kind} ${id}.`, { subject: { kind, id } });
}

const FULL_CODES = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** Whether an error says that no space is left: for files, or in the database (SQLSTATE 53100). */
export function isStorageFull(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (FULL_CODES.has(String((at as { code?: unknown }).code))) return true;
  }
  return false;
}

/** Where no space is left for files or in the database. */
export function storageFull(cause: unknown): EstateError {
  return new EstateError(
    'storage_full',
    'No space is left to store this; send it again once there is room.',
    {
      headers: { 'retry-after': '60' },
      cause,
    },
  );
}
