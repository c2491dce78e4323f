import codes from './errors.json' with { type: 'json' };

/**
 * The closed list of error codes. Each has its HTTP status and the title of its problem type
 * (RFC 9457). The API description lists all of them.
 */
export const errorCodes = codes;

export type ErrorCode = keyof typeof errorCodes;

/** One error in the input: the field's path (`attributes.timeModel`), a code and a message. */
export interface FieldError {
  field: string;
  code: string;
  message: string;
  /** The refused value, if it had to be one of a list. */
  value?: string;
  /** The list, or its beginning. */
  allowed?: string[];
  /** The member of the list that was probably meant. */
  nearest?: string;
}

export const fieldError = (field: string, code: string, message: string): FieldError => ({
  field,
  code,
  message,
});

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

/** The text without blanks around it. @throws EstateError `validation_failed` if nothing is left. */
export function requireText(text: string, field: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw invalidField(field, 'required', 'must not be blank');
  return trimmed;
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
  const detail = 'No space is left to store this; send it again once there is room.';
  return new EstateError('storage_full', detail, { headers: { 'retry-after': '60' }, cause });
}
