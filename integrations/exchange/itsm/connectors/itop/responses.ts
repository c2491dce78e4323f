import type { OutboundAnswer } from '../../../../../platform/outbound.ts';
import { RemoteError, type RemoteErrorCode } from '../../remote.ts';
import {
  type Dialect,
  inBrackets,
  type ReadResponse,
  type ResponseContext,
  readJson,
  uncertainFailure,
} from '../responses.ts';

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
export function readResponse(response: OutboundAnswer, context: ResponseContext): ReadResponse {
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
    return uncertainFailure(context, status, 'outage', 'unreadable_answer', 'returned unexpected data');
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
  if (isOutage) return uncertainFailure(context, status, 'outage', 'outage', refusal);
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
