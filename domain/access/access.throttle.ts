import { query, type Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { clientOf } from '../../platform/outbound.rules.ts';

/**
 * Requests allowed in one minute, counted by network address and by account name; for MCP messages, test messages to
 * channels and runs of extraction schedules by account, for requests to web portals by address.
 */
export const throttleLimits = {
  login: 10,
  register: 5,
  password: 5,
  setup: 5,
  sso: 20,
  mcp: 600,
  portal: 300,
  channel: 10,
  extraction: 10,
} as const;

export type Throttled = keyof typeof throttleLimits;

const WINDOW_SECONDS = 60;

/** The name under which the requests of a client are counted. */
export const byAddress = (address: string): string => `address ${clientOf(address)}`;

/**
 * Counts one or more hits for each of the names and throws if one of them exceeds its limit. The counters are in the
 * database, so they apply to all processes; a name is counted whether or not the account exists.
 * @throws EstateError `too_many_requests` with `Retry-After` in seconds.
 */
export async function throttle(db: Sql, what: Throttled, names: string[], hits = 1): Promise<void> {
  const keys = [...new Set(names.map((name) => `${what}:${name.toLowerCase()}`))].sort();
  const rows = await query(db).rows`insert into throttles as t (key, window_start, hits)
     select key, now(), ${hits}::int from unnest(${keys}::text[]) as key
     on conflict (key) do update set
       hits = case when t.window_start < now() - make_interval(secs => ${WINDOW_SECONDS}) then 0 else t.hits end + excluded.hits,
       window_start = case when t.window_start < now() - make_interval(secs => ${WINDOW_SECONDS}) then now() else t.window_start end
     returning hits, ceil(extract(epoch from t.window_start - now())) + ${WINDOW_SECONDS} as seconds`;
  const over = rows.filter((row: { hits: number }) => row.hits > throttleLimits[what]);
  if (over.length === 0) return;
  const seconds = Math.max(1, ...over.map((row: { seconds: number }) => Number(row.seconds)));
  throw new EstateError('too_many_requests', `Too many attempts; try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  });
}
