/**
 * The closed list of error codes. Each has its HTTP status and the title of its problem type
 * (RFC 9457). The API description lists all of them.
 */
export const errorCodes = {
  ai_budget_spent: { status: 409, title: 'The AI budget is used up' },
  ai_not_configured: { status: 409, title: 'No AI provider is configured' },
  approval_blocked_mandatory_missing: { status: 409, title: 'Approval is blocked' },
  as_of_expired: { status: 422, title: 'The time is before the oldest stored event' },
  bad_body: { status: 400, title: 'The body cannot be parsed' },
  bad_request: { status: 400, title: 'The request is malformed' },
  built_in_frozen: { status: 409, title: 'This change of a built-in object is not allowed' },
  calculation_cycle: { status: 409, title: 'The formulas would depend on each other in a cycle' },
  capability_too_deep: { status: 409, title: 'The capability hierarchy would be too deep' },
  cardinality_exceeded: { status: 409, title: 'The relation type allows no further relation' },
  cardinality_violated: { status: 409, title: 'Existing relations exceed the cardinality' },
  cards_present: { status: 409, title: 'The type has cards' },
  children_present: { status: 409, title: 'The card has children' },
  conflict: { status: 409, title: 'The request conflicts with the current state' },
  cursor_expired: { status: 422, title: 'The cursor has expired' },
  cursor_mismatch: { status: 422, title: 'The cursor belongs to another list' },
  document_signed: { status: 403, title: 'The document is signed' },
  duplicate_link: { status: 409, title: 'The decision is already linked to the card' },
  duplicate_relation: { status: 409, title: 'The relation already exists' },
  duplicate_stakeholder: { status: 409, title: 'The user already has this role' },
  duplicate_dependency: { status: 409, title: 'The dependency already exists' },
  email_taken: { status: 409, title: 'The e-mail address is in use' },
  expectation_failed: { status: 417, title: 'The expectation cannot be met' },
  external_id_taken: { status: 409, title: 'The external id is in use' },
  field_calculated: { status: 409, title: 'Another formula computes the field' },
  forbidden: { status: 403, title: 'Not permitted' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  idempotency_in_progress: { status: 409, title: 'The first request with this key is still running' },
  idempotency_key_reused: { status: 409, title: 'The idempotency key was used for another request' },
  instances_present: { status: 409, title: 'The relation type has relations' },
  internal: { status: 500, title: 'Internal error' },
  invalid_credentials: { status: 401, title: 'Login failed' },
  itsm_run_open: { status: 409, title: 'A run of the mapping is open' },
  job_not_cancellable: { status: 409, title: 'The job has ended' },
  job_not_retryable: { status: 409, title: 'The job cannot be retried' },
  job_result_missing: { status: 404, title: 'The job has no result file' },
  key_taken: { status: 409, title: 'The key is in use' },
  last_active_role: { status: 409, title: 'A type needs an active stakeholder role' },
  length_required: { status: 411, title: 'Length required' },
  limit_reached: { status: 409, title: 'The maximum number is reached' },
  mail_not_configured: { status: 409, title: 'No mail server is configured' },
  mail_refused: { status: 422, title: 'The mail server rejected the mail' },
  mail_unconfirmed: { status: 409, title: 'The mail may have been sent' },
  mapping_exists: { status: 409, title: 'The table is already mapped to the type' },
  mapping_in_use: { status: 409, title: 'Other mappings refer to the mapping' },
  mappings_present: { status: 409, title: 'The connection has mappings' },
  merge_conflict: { status: 409, title: 'The results of the merge have changed' },
  merged: { status: 308, title: 'The card was merged into another' },
  merged_card: { status: 409, title: 'The card was merged into another' },
  metamodel_busy: { status: 409, title: 'Running writes block the change of the metamodel' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  module_disabled: { status: 403, title: 'The module is disabled' },
  name_taken: { status: 409, title: 'The name is in use' },
  not_signatory: { status: 403, title: 'Only signatories can sign or reject' },
  not_acceptable: { status: 406, title: 'The requested format is not available' },
  not_found: { status: 404, title: 'Not found' },
  odata_invalid_query: { status: 400, title: 'The OData query is invalid' },
  odata_not_implemented: { status: 501, title: 'This part of OData is not supported' },
  origin_refused: { status: 403, title: 'The origin is not allowed' },
  pair_taken: { status: 409, title: 'The card types already have a relation type' },
  observer_role_unavailable: { status: 409, title: 'Cards of this type have no observers' },
  parent_cycle: { status: 422, title: 'A card cannot be its own ancestor' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  position_expired: { status: 410, title: 'Events at the position are no longer stored' },
  position_ahead: { status: 409, title: 'The position has not been reached' },
  precondition_failed: { status: 412, title: 'The resource has changed' },
  query_too_heavy: { status: 422, title: 'The query would take too long' },
  question_not_understood: { status: 422, title: 'The question is not understood' },
  range_not_satisfiable: { status: 416, title: 'The range is not satisfiable' },
  recent_login_required: { status: 403, title: 'A recent login is required' },
  registration_closed: { status: 403, title: 'Self-registration is closed' },
  relation_types_present: { status: 409, title: 'Relation types connect the type' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  role_in_use: { status: 409, title: 'Users have the stakeholder role' },
  rollback_conflicts: { status: 409, title: 'Later writes changed the same objects' },
  rollback_unsupported: { status: 409, title: 'The batch contains writes that cannot be undone' },
  scim_invalid_filter: { status: 400, title: 'The filter is invalid' },
  scim_invalid_path: { status: 400, title: 'The path is invalid' },
  scim_invalid_syntax: { status: 400, title: 'The request does not conform to RFC 7644' },
  scim_invalid_value: { status: 400, title: 'A value is missing or invalid' },
  scim_mutability: { status: 400, title: 'The attribute cannot be changed' },
  scim_not_implemented: { status: 501, title: 'This part of SCIM is not supported' },
  scim_no_target: { status: 400, title: 'The path selects no value' },
  scim_uniqueness: { status: 409, title: 'The value is in use' },
  session_required: { status: 403, title: 'A login session is required' },
  sibling_name_taken: { status: 409, title: 'A sibling has this name' },
  single_tag: { status: 409, title: 'The group allows one tag' },
  slug_taken: { status: 409, title: 'The slug is in use' },
  sso_refused: { status: 403, title: 'The account at the provider is not accepted' },
  sso_required: { status: 403, title: 'Single sign-on is required' },
  storage_full: { status: 507, title: 'No space is left' },
  storage_refused: { status: 409, title: 'The storage rejected the file' },
  survey_incomplete: { status: 409, title: 'The survey cannot be sent yet' },
  survey_too_large: { status: 409, title: 'The survey has too many questions' },
  system_role: { status: 403, title: 'The role is a system role' },
  tag_in_use: { status: 409, title: 'Tags of cards conflict with the change' },
  thread_full: { status: 409, title: 'The thread is full' },
  too_many_descendants: { status: 409, title: 'The card has too many descendants' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  two_factor_required: { status: 401, title: 'The second factor is required' },
  unauthorized: { status: 401, title: 'Login required' },
  unavailable: { status: 503, title: 'The service is not ready' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  upstream_failed: { status: 502, title: 'A remote system failed' },
  use_operation: { status: 422, title: 'The field is changed by a separate operation' },
  validation_failed: { status: 422, title: 'The input is not valid' },
  values_do_not_fit: { status: 409, title: 'Stored values do not fit the change' },
  worker_lost: { status: 500, title: 'Workers were lost repeatedly' },
  wrong_state: { status: 409, title: 'Not possible in the current state' },
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
  /** Headers of the response, such as `Retry-After` or `Allow`. */
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
