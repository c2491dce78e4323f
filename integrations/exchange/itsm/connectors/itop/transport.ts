import {
  basicAuth,
  type Call,
  type ConnectorParts,
  openTransport,
  type Transport as PlainTransport,
} from '../transport.ts';
import type { ItopAuth, ItopConfig } from './config.ts';
import { selectQuery } from './oql.ts';
import { readResponse } from './responses.ts';

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
  const auth: ItopAuth = parts.config.auth;
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
