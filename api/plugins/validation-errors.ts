import type { FieldError } from '../../platform/errors.ts';

/** An error as Ajv reports it. */
export interface AjvError {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
}

/** Maximum number of allowed values in a message. */
const MAX_LISTED = 30;

/** Maximum number of errors of one request that are processed. */
const MAX_ERRORS = 1_000;

/** Messages by format. */
const formats: Record<string, string> = {
  uuid: 'is not a UUID',
  'date-time': 'is not an RFC 3339 time, such as 2026-01-31T08:00:00Z',
  date: 'is not a date, such as 2026-01-31',
  email: 'is not an e-mail address',
  uri: 'is not a URI',
};

/**
 * Converts Ajv errors to field errors. A value that is not allowed has one Ajv error per allowed value: these are combined
 * into one that lists all values.
 */
export function fieldErrors(all: readonly AjvError[]): FieldError[] {
  const errors = all.slice(0, MAX_ERRORS);
  const byPath = new Map<string, AjvError[]>();
  for (const error of errors) {
    const known = byPath.get(error.instancePath);
    if (known) known.push(error);
    else byPath.set(error.instancePath, [error]);
  }
  const paths = [...byPath.keys()];
  return [...byPath].flatMap(([path, own]) =>
    errorsOfValue(withoutNullErrors(own, () => paths.some((other) => other.startsWith(`${path}/`)))),
  );
}

/**
 * Removes the errors of a nullable value that only state that it is not null, if other errors of it remain.
 * @param below whether there are errors below it.
 */
function withoutNullErrors(errors: AjvError[], below: () => boolean): AjvError[] {
  const isNullError = ({ keyword, params }: AjvError) =>
    keyword === 'anyOf' || (keyword === 'type' && params.type === 'null');
  const others = errors.filter((error) => !isNullError(error));
  const isNullable = errors.length - others.length === 2;
  const forms = others.filter(({ keyword }) => keyword === 'type').length;
  return isNullable && forms <= 1 && (others.length > 0 || below()) ? others : errors;
}

/** Field errors of one value. */
function errorsOfValue(errors: AjvError[]): FieldError[] {
  const allowed = allowedValues(errors);
  const isOfFormat = !errors.some(({ keyword }) => keyword === 'format');
  const result: FieldError[] = [];
  if (allowed.length > 0) {
    result.push({
      field: fieldOf(errors[0]!),
      code: 'enum',
      message: `must be one of ${listValues(allowed)}`,
    });
  }
  for (const error of errors) {
    if (allowed.length > 0 && isChoiceError(error)) continue;
    // the pattern next to a format is only a fast pre-check of the format
    if (error.keyword === 'pattern' && !isOfFormat) continue;
    result.push(fieldError(error));
  }
  return result;
}

/** Whether the error only states that the value is not one of the allowed values. */
const isChoiceError = ({ keyword, params }: AjvError): boolean =>
  ['const', 'enum', 'anyOf', 'oneOf'].includes(keyword) || (keyword === 'type' && params.type === 'null');

function allowedValues(errors: AjvError[]): unknown[] {
  const values = errors.flatMap(({ keyword, params }) => {
    if (keyword === 'const') return [params.allowedValue];
    return keyword === 'enum' ? (params.allowedValues as unknown[]) : [];
  });
  return [...new Set(values)].filter((value) => value !== null);
}

function listValues(values: unknown[]): string {
  const shown = values.slice(0, MAX_LISTED).map((value) => JSON.stringify(value));
  const more = values.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const fieldOf = ({ instancePath }: AjvError): string => pathOf(instancePath).join('.') || 'body';

const pathOf = (instancePath: string): string[] =>
  instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

function fieldError(error: AjvError): FieldError {
  const { keyword, params } = error;
  if (keyword === 'additionalProperties') {
    const field = [...pathOf(error.instancePath), String(params.additionalProperty)].join('.');
    return { field, code: 'unknown_field', message: 'is not a known field' };
  }
  if (keyword === 'required') {
    const field = [...pathOf(error.instancePath), String(params.missingProperty)].join('.');
    return { field, code: 'required', message: 'is required' };
  }
  return { field: fieldOf(error), code: keyword, message: messageOf(error) };
}

function messageOf({ keyword, params, message }: AjvError): string {
  if (keyword === 'anyOf' || keyword === 'oneOf') return 'does not match any of the allowed forms';
  if (keyword === 'format') return formats[String(params.format)] ?? message ?? 'is not valid';
  return message?.replace('must NOT', 'must not') ?? 'is not valid';
}
