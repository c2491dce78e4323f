import { done, type Result } from '../../remote.failures.ts';
import {
  type Call,
  createTransport,
  type Transport as PlainTransport,
  type TransportParts,
} from '../transport.ts';
import { readAnswer } from './answers.ts';
import type { ItopAuth } from './config.ts';

/** An operation of the service, such as `core/get`, with its parameters. */
export interface Operation {
  operation: string;
  [parameter: string]: unknown;
}

interface Asked {
  /** What is tried, in words, such as `Reading Server`. */
  doing: string;
  /** Whether it stores nothing. */
  isRead: boolean;
  /** Rows that are asked for where pages are as usual. */
  pageSize?: number;
  /** Made anew for each try, since a page may shrink. */
  operation: (pageSize: number) => Operation;
}

/** An object as an answer shows it. */
export interface Shown {
  /** Its own class, below the one that was asked for. */
  class: string;
  key: string;
  fields: Record<string, unknown>;
}

export interface Told {
  message: string;
  objects: Shown[];
  /** How many objects fit altogether, whatever the limit. */
  found: number;
  /** How many rows were asked for in the end. */
  pageSize: number;
}

/** Speaks to the REST/JSON service. */
export interface Transport extends Pick<PlainTransport, 'clockAheadMs' | 'calls'> {
  ask(asked: Asked): Promise<Result<Told>>;
  /** The call that an operation is, for whoever sends it otherwise, and what its answer holds. */
  callOf(asked: Asked): Call;
  plain: PlainTransport;
}

/** Operations go as forms whose `json_data` says what is asked; version 1.3 is understood since iTop 2.2. */
export function createItopTransport(
  auth: ItopAuth,
  parts: Omit<TransportParts, 'read' | 'session'>,
): Transport {
  const basic =
    auth.kind === 'basic'
      ? `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`
      : '';
  const headers: Record<string, string> = auth.kind === 'token' ? { 'auth-token': auth.token } : {};
  const plain = createTransport({
    ...parts,
    read: readAnswer,
    session: {
      authorization: async () => done(basic),
      secrets: () => [auth.kind === 'token' ? auth.token : auth.password],
    },
  });
  const callOf: Transport['callOf'] = ({ doing, isRead, pageSize, operation }) => ({
    method: 'POST',
    path: '/webservices/rest.php',
    doing,
    headers,
    query: () => ({ version: '1.3' }),
    form: (size) => ({ json_data: JSON.stringify(operation(size)) }),
    ...(isRead ? { isRead } : {}),
    ...(pageSize === undefined ? {} : { pageSize }),
  });
  return {
    plain,
    callOf,
    clockAheadMs: plain.clockAheadMs,
    calls: plain.calls,
    async ask(asked) {
      const sent = await plain.send(callOf(asked));
      return sent.ok ? done(toldOf(sent.value.result, sent.value.pageSize)) : sent;
    },
  };
}

/** What an answer holds. */
export function toldOf(document: unknown, pageSize = 0): Told {
  const { message, objects } = document as { message?: unknown; objects?: unknown };
  const text = typeof message === 'string' ? message : '';
  const shown = Object.values((objects ?? {}) as Record<string, Partial<Shown>>).flatMap((object) =>
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
