import { createLru } from '../../../../platform/lru.ts';

/** By time zone; making one takes long, and each takes some 20 KB. */
const formatters = createLru<Intl.DateTimeFormat>(2 * 1024 * 1024, () => 20_000);

function formatter(timeZone: string): Intl.DateTimeFormat {
  let known = formatters.get(timeZone);
  if (!known) {
    known = new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formatters.set(timeZone, known);
  }
  return known;
}

/** How far a zone is ahead of UTC at a moment, in milliseconds. */
function offsetAt(ms: number, timeZone: string): number {
  const part = Object.fromEntries(
    formatter(timeZone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const local = Date.UTC(part.year!, part.month! - 1, part.day!, part.hour!, part.minute!, part.second!);
  return local - Math.floor(ms / 1000) * 1000;
}

const text = (localMs: number): string => new Date(localMs).toISOString().slice(0, 19).replace('T', ' ');

/** `2026-01-31 23:59:59` by the clocks of a zone. */
export const toLocal = (ms: number, timeZone: string): string => text(ms + offsetAt(ms, timeZone));

const BACK_MS = 3 * 3_600_000;

/** A local time that none is before which is told from a moment on, also where clocks are put back soon after. */
export function notBefore(ms: number, timeZone: string): string {
  const offset = offsetAt(ms, timeZone);
  return text(ms + Math.min(offset, offsetAt(ms + BACK_MS, timeZone)));
}

/** The moment of a local time in milliseconds; of two with the same time the earlier. NaN where it is no time. */
export function fromLocal(local: string, timeZone: string): number {
  const asUtc = Date.parse(`${local.replace(' ', 'T')}Z`);
  if (Number.isNaN(asUtc)) return Number.NaN;
  const day = 24 * 3_600_000;
  const moments = [asUtc - day, asUtc + day].map((around) => asUtc - offsetAt(around, timeZone));
  const fitting = moments.filter((ms) => ms + offsetAt(ms, timeZone) === asUtc);
  return Math.min(...(fitting.length > 0 ? fitting : moments));
}
