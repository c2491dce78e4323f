import { type Direction, type Report, type Schema, schemaComparison } from './openapi-changes.schema.ts';

type Parameter = { $ref?: string; name: string; in: string; required?: boolean; schema: Schema };
type Content = { $ref?: string; required?: boolean; content?: Record<string, { schema?: Schema }> };
interface Operation {
  operationId?: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
}
/** The parts of an OpenAPI document that are compared. */
export interface Description {
  paths: Record<string, Record<string, Operation>>;
  components?: Record<string, Record<string, unknown>>;
}

/** The changes from one description to another that may break clients, a sentence each. */
export function breakingChanges(old: Description, now: Description): string[] {
  const found = new Set<string>();
  const report: Report = (at, what) => found.add(`${at}: ${what}`);
  const schemas = schemaComparison(
    (ref) => componentOf(old, ref) as Schema,
    (ref) => componentOf(now, ref) as Schema,
  );
  const context: Context = { old, now, schemas, report };
  const after = operationsOf(now);
  for (const [key, { name, operation }] of operationsOf(old)) {
    const other = after.get(key);
    if (other) compareOperation(operation, other.operation, name, context);
    else report(name, 'is removed');
  }
  return [...found];
}

interface Context {
  old: Description;
  now: Description;
  schemas: ReturnType<typeof schemaComparison>;
  report: Report;
}

/** Operations by method and path; names of parameters in the path make no difference to clients. */
function operationsOf(description: Description): Map<string, { name: string; operation: Operation }> {
  return new Map(
    Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const name = `${method.toUpperCase()} ${path}`;
        return [name.replaceAll(/\{[^}]*\}/g, '{}'), { name, operation }] as const;
      }),
    ),
  );
}

function componentOf(description: Description, ref: string): unknown {
  const [, , kind, name] = ref.split('/');
  const found = description.components?.[kind!]?.[name!];
  if (found === undefined) throw new Error(`the description has no ${ref}`);
  return found;
}

const resolve = <T extends { $ref?: string }>(description: Description, part: T): T =>
  part.$ref === undefined ? part : resolve(description, componentOf(description, part.$ref) as T);

function compareOperation(was: Operation, is: Operation, at: string, context: Context): void {
  if (was.operationId !== is.operationId)
    context.report(at, `was named ${was.operationId}, is named ${is.operationId}`);
  compareParameters(was, is, at, context);
  compareBody(was, is, at, context);
  for (const [status, response] of Object.entries(was.responses)) {
    if (!status.startsWith('2')) continue;
    const other = is.responses[status];
    if (!other) context.report(at, `no longer answers ${status}`);
    else compareContent(response, other, 'answer', `${at} ${status}`, context);
  }
}

function compareParameters(was: Operation, is: Operation, at: string, context: Context): void {
  const before = (was.parameters ?? []).map((one) => resolve(context.old, one));
  const after = (is.parameters ?? []).map((one) => resolve(context.now, one));
  // of those in the path, only the order counts
  const keyOf = (list: Parameter[], one: Parameter) =>
    one.in === 'path'
      ? `path ${list.filter((other) => other.in === 'path').indexOf(one)}`
      : `${one.in} ${one.name}`;
  const old = new Map(before.map((one) => [keyOf(before, one), one]));
  const now = new Map(after.map((one) => [keyOf(after, one), one]));
  for (const [key, one] of old) {
    const other = now.get(key);
    if (other)
      context.schemas(one.schema, other.schema, 'request', `${at} ${one.in} ${one.name}`, context.report);
    // headers that an operation does not know do no harm
    else if (one.in !== 'header') context.report(`${at} ${one.in} ${one.name}`, 'is no longer taken');
  }
  for (const [key, other] of now) {
    if (other.required && !old.get(key)?.required)
      context.report(`${at} ${other.in} ${other.name}`, 'is required now');
  }
}

function compareBody(was: Operation, is: Operation, at: string, context: Context): void {
  const before = was.requestBody && resolve(context.old, was.requestBody);
  const after = is.requestBody && resolve(context.now, is.requestBody);
  if (after?.required && !before?.required) context.report(`${at} body`, 'is required now');
  if (!before) return;
  if (after) compareContent(before, after, 'request', `${at} body`, context);
  else context.report(`${at} body`, 'is no longer taken');
}

function compareContent(was: Content, is: Content, direction: Direction, at: string, context: Context): void {
  const before = resolve(context.old, was).content ?? {};
  const after = resolve(context.now, is).content ?? {};
  for (const [mediaType, { schema }] of Object.entries(before)) {
    const other = after[mediaType];
    if (!other) context.report(at, `no longer ${direction === 'request' ? 'takes' : 'answers'} ${mediaType}`);
    else if (schema && other.schema) context.schemas(schema, other.schema, direction, at, context.report);
  }
}
