import { describe, expect, it } from 'vitest';
import { dueSlot } from '../../../../domain/kernel/jobs/schedules.fire.ts';

const due = (cron: string, zone: string, after: string, now: string) =>
  dueSlot(cron, zone, new Date(after), new Date(now))?.toISOString();

describe('the slot that is due', () => {
  it('is none before the first, the very moment included, and the newest of several', () => {
    const daily = (now: string) => due('0 2 * * *', 'UTC', '2026-03-01T12:00:00Z', now);
    expect(daily('2026-03-02T01:59:59.999Z')).toBeUndefined();
    expect(daily('2026-03-02T02:00:00.000Z')).toBe('2026-03-02T02:00:00.000Z');
    expect(daily('2026-03-02T02:00:00.001Z')).toBe('2026-03-02T02:00:00.000Z');
    expect(daily('2026-03-09T01:00:00.000Z')).toBe('2026-03-08T02:00:00.000Z');
  });

  it('is none when the newest is done', () => {
    expect(due('*/5 * * * *', 'UTC', '2026-03-01T12:05:00Z', '2026-03-01T12:09:59Z')).toBeUndefined();
    expect(due('*/5 * * * *', 'UTC', '2026-03-01T12:05:00Z', '2026-03-01T12:10:00Z')).toBe(
      '2026-03-01T12:10:00.000Z',
    );
  });

  it('is found at once after years', () => {
    expect(due('* * * * *', 'UTC', '2016-01-01T00:00:00Z', '2026-01-01T00:00:30Z')).toBe(
      '2026-01-01T00:00:00.000Z',
    );
  });

  it('follows the time zone', () => {
    expect(due('0 2 * * *', 'Asia/Kolkata', '2026-03-01T00:00:00Z', '2026-03-01T21:00:00Z')).toBe(
      '2026-03-01T20:30:00.000Z',
    );
  });

  it('comes an hour later when summer time leaves it out', () => {
    const spring = (now: string) => due('30 2 * * *', 'Europe/Berlin', '2026-03-28T01:30:00Z', now);
    expect(spring('2026-03-29T01:00:00Z')).toBeUndefined();
    expect(spring('2026-03-29T01:30:00Z')).toBe('2026-03-29T01:30:00.000Z');
    expect(spring('2026-03-29T20:00:00Z')).toBe('2026-03-29T01:30:00.000Z');
  });

  it('comes once when an hour is repeated', () => {
    const autumn = (after: string, now: string) => due('30 2 * * *', 'Europe/Berlin', after, now);
    expect(autumn('2026-10-24T00:30:00Z', '2026-10-25T00:45:00Z')).toBe('2026-10-25T00:30:00.000Z');
    expect(autumn('2026-10-24T00:30:00Z', '2026-10-25T12:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
    expect(autumn('2026-10-25T00:30:00Z', '2026-10-25T12:00:00Z')).toBeUndefined();
  });
});
