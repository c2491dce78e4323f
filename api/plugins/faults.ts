import type { FieldError } from '../../platform/errors.ts';

/** A fault as the schema's check reports it. */
export interface AjvFault {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
}

/** How many allowed values are told; of more, the first. */
const TOLD = 30;

/** More faults of one request are not looked at. */
const MOST_READ = 1_000;

/** What is said of a text that is not of a format. */
const formats: Record<string, string> = {
  uuid: 'is no UUID',
  'date-time': 'is no moment as in RFC 3339, such as 2026-01-31T08:00:00Z',
  date: 'is no date, such as 2026-01-31',
  email: 'is no e-mail address',
  uri: 'is no address',
};

/**
 * The faults of one check as the problem document tells them. A value that is none of those allowed has a fault for
 * each of them: they become one, which names them all.
 */
export function fieldErrors(all: readonly AjvFault[]): FieldError[] {
  const faults = all.slice(0, MOST_READ);
  const byPath = new Map<string, AjvFault[]>();
  for (const fault of faults) {
    const known = byPath.get(fault.instancePath);
    if (known) known.push(fault);
    else byPath.set(fault.instancePath, [fault]);
  }
  const paths = [...byPath.keys()];
  return [...byPath].flatMap(([path, own]) =>
    ofOneValue(besidesNull(own, () => paths.some((other) => other.startsWith(`${path}/`)))),
  );
}

/**
 * The faults of a value that may be null as well, without what only says that it is not: what is wrong with the one form
 * that it can have otherwise is told, at its place or below it.
 * @param below whether there are faults below it.
 */
function besidesNull(faults: AjvFault[], below: () => boolean): AjvFault[] {
  const isOfNull = ({ keyword, params }: AjvFault) =>
    keyword === 'anyOf' || (keyword === 'type' && params.type === 'null');
  const others = faults.filter((fault) => !isOfNull(fault));
  const isNullable = faults.length - others.length === 2;
  const forms = others.filter(({ keyword }) => keyword === 'type').length;
  return isNullable && forms <= 1 && (others.length > 0 || below()) ? others : faults;
}

/** What is told of the faults of one value. */
function ofOneValue(faults: AjvFault[]): FieldError[] {
  const allowed = allowedValues(faults);
  const isOfFormat = !faults.some(({ keyword }) => keyword === 'format');
  const errors: FieldError[] = [];
  if (allowed.length > 0) {
    errors.push({ field: fieldOf(faults[0]!), code: 'enum', message: `is none of ${listed(allowed)}` });
  }
  for (const fault of faults) {
    if (allowed.length > 0 && isOfChoice(fault)) continue;
    // the pattern beside a format only spares the check of it
    if (fault.keyword === 'pattern' && !isOfFormat) continue;
    errors.push(fieldError(fault));
  }
  return errors;
}

/** Whether it says no more than that the value is none of those allowed. */
const isOfChoice = ({ keyword, params }: AjvFault): boolean =>
  ['const', 'enum', 'anyOf', 'oneOf'].includes(keyword) || (keyword === 'type' && params.type === 'null');

function allowedValues(faults: AjvFault[]): unknown[] {
  const values = faults.flatMap(({ keyword, params }) => {
    if (keyword === 'const') return [params.allowedValue];
    return keyword === 'enum' ? (params.allowedValues as unknown[]) : [];
  });
  return [...new Set(values)].filter((value) => value !== null);
}

function listed(values: unknown[]): string {
  const told = values.slice(0, TOLD).map((value) => JSON.stringify(value));
  const more = values.length - told.length;
  return `${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const fieldOf = ({ instancePath }: AjvFault): string => pathOf(instancePath).join('.') || 'body';

const pathOf = (instancePath: string): string[] =>
  instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

function fieldError(fault: AjvFault): FieldError {
  const { keyword, params } = fault;
  if (keyword === 'additionalProperties') {
    const field = [...pathOf(fault.instancePath), String(params.additionalProperty)].join('.');
    return { field, code: 'unknown_field', message: 'is not a known field' };
  }
  if (keyword === 'required') {
    const field = [...pathOf(fault.instancePath), String(params.missingProperty)].join('.');
    return { field, code: 'required', message: 'is required' };
  }
  return { field: fieldOf(fault), code: keyword, message: messageOf(fault) };
}

function messageOf({ keyword, params, message }: AjvFault): string {
  if (keyword === 'anyOf' || keyword === 'oneOf') return 'has none of the allowed forms';
  if (keyword === 'format') return formats[String(params.format)] ?? message ?? 'is not valid';
  return message?.replace('must NOT', 'must not') ?? 'is not valid';
}
