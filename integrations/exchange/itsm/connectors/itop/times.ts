import { createLru } from '../../../../../platform/lru.ts';

/** By time zone; creating one is slow, and each needs some 20 KB. */
const formatters = createLru<Intl.DateTimeFormat>(2 * 1024 * 1024, () => 20_000);

function formatter(timeZone: string): Intl.DateTimeFormat {
  let cached = formatters.get(timeZone);
  if (!cached) {
    cached = new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formatters.set(timeZone, cached);
  }
  return cached;
}

/** How far a zone is ahead of UTC at a time, in milliseconds. */
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

/** The local time of a zone: `2026-01-31 23:59:59`. */
export const toLocal = (ms: number, timeZone: string): string => text(ms + offsetAt(ms, timeZone));

const BACK_MS = 3 * 3_600_000;

/** The earliest local time that the zone's clocks show from a time on, also if they are set back soon after it. */
export function earliestLocalTime(ms: number, timeZone: string): string {
  const offset = offsetAt(ms, timeZone);
  return text(ms + Math.min(offset, offsetAt(ms + BACK_MS, timeZone)));
}

/** The time of a local time in milliseconds, the earlier one if it is ambiguous; NaN if it is invalid. */
export function fromLocal(local: string, timeZone: string): number {
  const asUtc = Date.parse(`${local.replace(' ', 'T')}Z`);
  if (Number.isNaN(asUtc)) return Number.NaN;
  const day = 24 * 3_600_000;
  const candidates = [asUtc - day, asUtc + day].map((around) => asUtc - offsetAt(around, timeZone));
  const fitting = candidates.filter((ms) => ms + offsetAt(ms, timeZone) === asUtc);
  return Math.min(...(fitting.length > 0 ? fitting : candidates));
}
