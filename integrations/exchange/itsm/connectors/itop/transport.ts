import type { OutboundResponse } from '../../../../../platform/outbound.ts';
import { RemoteError, type RemoteErrorCode } from '../../remote.ts';
import {
  type Dialect,
  inBrackets,
  type ReadResponse,
  type ResponseContext,
  readJson,
  uncertainFailure,
} from '../responses.ts';
import {
  basicAuth,
  type Call,
  type ConnectorParts,
  defaultTransport,
  openTransport,
  type PlainAuth,
  type Transport as PlainTransport,
  type TransportConfig,
} from '../transport.ts';

export interface ItopConfig extends TransportConfig {
  /** The address of iTop with its path, such as `https://itop.example.com/web`. */
  url: string;
  /** A token is an application token or a personal one. */
  auth: Exclude<PlainAuth, { kind: 'none' }>;
  /** The IANA zone of iTop's times: `timezone` of its configuration. */
  timeZone: string;
  /** How far back the history is read for the last change of objects. */
  recentMs: number;
  /**
   * The reconciliation keys of each class: the attributes whose values together identify an object. An object with the same
   * values is used instead of creating one; objects of other classes are always created.
   */
  reconciliation?: Readonly<Record<string, readonly string[]>>;
}

export const defaultConfig: Omit<ItopConfig, 'url' | 'auth' | 'timeZone'> = {
  ...defaultTransport,
  recentMs: 30 * 24 * 3_600_000,
};

/** An operation of the service, such as `core/get`, with its parameters. */
export interface Operation {
  operation: string;
  [parameter: string]: unknown;
}

interface Request {
  /** The attempted operation for messages, such as `Reading Server`. */
  doing: string;
  /** Whether it stores nothing. */
  isRead: boolean;
  /** Usual number of rows of a page. */
  pageSize?: number;
  /** Built for each attempt, since the page size may shrink. */
  operation: (pageSize: number) => Operation;
}

/** A query for objects of a class. */
export interface Query {
  class: string;
  conditions?: readonly string[];
  /** For `output_fields`. */
  fields: string;
  /** 0 for all; a page has at most as many rows as the limiter allows if `isPage`. */
  limit: number;
  isPage?: true;
  doing: string;
}

/** An object in a response. */
export interface ItopObject {
  /** Its own class, at or below the requested one. */
  class: string;
  key: string;
  fields: Record<string, unknown>;
}

export interface ItopResponse {
  message: string;
  objects: ItopObject[];
  /** How many objects match, whatever the limit. */
  found: number;
  /** How many rows were requested in the last attempt. */
  pageSize: number;
}

/** Calls the REST/JSON service. */
export interface ItopTransport extends Omit<PlainTransport, 'mask'> {
  execute(request: Request): Promise<ItopResponse>;
  /** Objects of a class in the service's order. */
  get(query: Query): Promise<ItopResponse>;
  /** The call that executes an operation. */
  callOf(request: Request): Call;
}

/** Operations are sent as forms with `json_data`; version 1.3 is supported since iTop 2.2. */
export function openItopTransport(
  parts: ConnectorParts<ItopConfig>,
  base: string,
  account: string,
): ItopTransport {
  const { auth } = parts.config;
  const header = auth.kind === 'basic' ? basicAuth(auth.username, auth.password) : '';
  const headers: Record<string, string> = auth.kind === 'token' ? { 'auth-token': auth.token } : {};
  const plain = openTransport(parts, {
    base,
    account,
    read: readResponse,
    session: {
      authorization: async () => header,
      secrets: () => [auth.kind === 'token' ? auth.token : auth.password],
    },
  });
  const callOf: ItopTransport['callOf'] = ({ doing, isRead, pageSize, operation }) => ({
    method: 'POST',
    path: '/webservices/rest.php',
    doing,
    headers,
    query: () => ({ version: '1.3' }),
    form: (size) => ({ json_data: JSON.stringify(operation(size)) }),
    isRead,
    ...(pageSize === undefined ? {} : { pageSize }),
  });
  const execute: ItopTransport['execute'] = async (request) => {
    const { result, pageSize } = await plain.send(callOf(request));
    return readObjects(result, pageSize);
  };
  return {
    ...plain,
    callOf,
    execute,
    get: ({ class: className, conditions = [], fields, limit, isPage, doing }) =>
      execute({
        doing,
        isRead: true,
        ...(isPage ? { pageSize: limit } : {}),
        operation: (pageSize) => ({
          operation: 'core/get',
          class: className,
          key: selectQuery(className, conditions),
          output_fields: fields,
          limit: isPage ? pageSize : limit,
          page: 1,
        }),
      }),
  };
}

/** The objects of a response. */
export function readObjects(document: unknown, pageSize = 0): ItopResponse {
  const { message, objects } = document as { message?: unknown; objects?: unknown };
  const text = typeof message === 'string' ? message : '';
  const shown = Object.values((objects ?? {}) as Record<string, Partial<ItopObject>>).flatMap((object) =>
    typeof object?.class === 'string' && object.key !== undefined
      ? [{ class: object.class, key: String(object.key), fields: object.fields ?? {} }]
      : [],
  );
  const found = /(?:Found|Deleted): (\d+)/.exec(text)?.[1];
  return {
    message: text,
    objects: shown,
    found: found === undefined ? shown.length : Number(found),
    pageSize,
  };
}

/** An OQL text literal. */
export const quote = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

export const inList = (field: string, values: readonly (string | number)[]): string =>
  `${field} IN (${values.map((value) => (typeof value === 'number' ? value : quote(value))).join(',')})`;

/** The query for objects of a class that match all conditions; empty conditions are omitted. */
function selectQuery(className: string, conditions: readonly string[]): string {
  const some = conditions.filter((condition) => condition !== '').map((condition) => `(${condition})`);
  return `SELECT ${className}${some.length > 0 ? ` WHERE ${some.join(' AND ')}` : ''}`;
}

const token =
  /\s+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]+`|[A-Za-z_]\w*|0x[0-9a-fA-F]+|\d+|->|[!<>]=|./gsy;
const words = new Set(
  `AND OR NOT IN LIKE REGEXP MATCHES NULL INTERVAL SECOND MINUTE HOUR DAY MONTH YEAR BELOW ABOVE STRICT
  SELECT FROM AS JOIN ON WHERE UNION`.split(/\s+/),
);

function tokensOf(filter: string): string[] {
  return (filter.match(token) ?? []).filter((part) => part.trim() !== '');
}

/** Why a filter cannot be combined with other conditions, in words; undefined if it can. */
export function findFilterProblem(filter: string): string | undefined {
  let depth = 0;
  for (const part of tokensOf(filter)) {
    if (part === '"' || part === "'" || part === '`') return 'contains an unclosed quote';
    if (part === '(') depth += 1;
    if (part === ')') depth -= 1;
    if (depth < 0) return 'contains an unopened bracket';
    if (depth === 0 && /^(SELECT|UNION|WHERE)$/i.test(part)) {
      return `must be only a condition, without ${part.toUpperCase()}`;
    }
  }
  return depth > 0 ? 'contains an unclosed bracket' : undefined;
}

/** The attributes that a condition names; names in nested queries are attributes of other classes. */
export function namesInFilter(filter: string): string[] {
  const parts = tokensOf(filter);
  const names = new Set<string>();
  let nested = 0;
  let depth = 0;
  for (const [at, part] of parts.entries()) {
    if (part === '(') depth += 1;
    if (part === ')') {
      depth -= 1;
      if (depth < nested) nested = 0;
    }
    if (/^SELECT$/i.test(part) && nested === 0) nested = depth;
    const name = part.replaceAll('`', '');
    if (nested > 0 || !/^[A-Za-z_]\w*$/.test(name) || words.has(name.toUpperCase())) continue;
    // functions, parameters of the query, and aliases before a dot
    if (['(', '.'].includes(parts[at + 1] ?? '') || [':', '->'].includes(parts[at - 1] ?? '')) continue;
    names.add(name);
  }
  return [...names];
}

/**
 * The service passes on the error number of an exception of its database as its own code; its own end at 100, those of
 * MySQL and MariaDB begin here.
 */
const LOWEST_DATABASE_CODE = 1_000;
/**
 * Errors of the database about the statement or a value in it: the same request fails again. All others, such as a lost
 * connection (2006, 2013), a deadlock (1213) or a lock that was not granted in time (1205), are failures of the database.
 */
const statementErrors: ReadonlySet<number> = new Set([
  1048, 1052, 1054, 1062, 1064, 1116, 1139, 1146, 1242, 1264, 1265, 1292, 1365, 1366, 1406, 1411, 1451, 1452,
  1690, 3140, 3685, 4025,
]);

/** Codes of responses; 0 is success. */
const codes = { unauthorized: 1, missingUser: 5, missingPassword: 6, internalError: 100 } as const;

interface Document {
  code?: unknown;
  message?: unknown;
}

const messageOf = (document: unknown): string => {
  const { message } = (document ?? {}) as Document;
  return typeof message === 'string' ? message : '';
};

// a response with a successful status has its own code
const dialect: Dialect = {
  errorOf: (document, status) => (status < 300 ? undefined : messageOf(document) || undefined),
};

/** Reads a response of the REST/JSON service by its own code, since refusals have the status 200. */
export function readResponse(response: OutboundResponse, context: ResponseContext): ReadResponse {
  const read = readJson(response, context, dialect);
  if (read.kind !== 'done') return read;
  const { status } = response;
  const refuse = (code: RemoteErrorCode, what: string): ReadResponse => ({
    kind: code === 'credentials_refused' ? 'unauthenticated' : 'final',
    error: new RemoteError(code, context.where, `${context.doing} ${what}`, { status }),
  });
  const code = Number((read.result as Document | undefined)?.code ?? Number.NaN);
  if (code === 0) return read;
  if (Number.isNaN(code))
    return uncertainFailure(context, status, 'unreadable_response', 'returned unexpected data');
  const message = messageOf(read.result);
  const refusal = `was refused with the code ${code}${inBrackets(context, message)}`;
  switch (code) {
    case codes.missingUser:
    case codes.missingPassword:
      return refuse('credentials_refused', refusal);
    case codes.unauthorized:
      return refuse(isAboutRights(message) ? 'forbidden' : 'credentials_refused', refusal);
  }
  const isOutage = code >= LOWEST_DATABASE_CODE ? !statementErrors.has(code) : isTransient(message);
  if (code !== codes.internalError && !isOutage) return refuse('refused', refusal);
  if (isOutage) return uncertainFailure(context, status, 'unavailable', refusal);
  return refuse(isMissing(message) ? 'not_found' : 'refused', refusal);
}

// wrong credentials and missing rights have the same code
const isAboutRights = (message: string): boolean =>
  /enough permissions|not allowed|not authorized/i.test(message);
// all internal errors have the same code
const isMissing = (message: string): boolean =>
  /^Error: (Invalid object |No item found|Unknown class)| is not a valid class/i.test(message);
const isTransient = (message: string): boolean =>
  /mysql|deadlock|lock wait|SQL query|ReadOnly mode|maintenance/i.test(message);
