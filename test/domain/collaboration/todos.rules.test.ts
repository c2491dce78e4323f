import fc from 'fast-check';
import { defaultLead, nextDue, statusOn } from '../../../domain/collaboration/todos/todos.rules.ts';
import { forAll } from '../../support/property.ts';

describe('the next due date', () => {
  it.each([
    ['2026-02-27', 'days', 3, '2026-03-02'],
    ['2026-12-28', 'weeks', 1, '2027-01-04'],
    ['2026-01-31', 'months', 1, '2026-02-28'],
    ['2028-01-31', 'months', 1, '2028-02-29'],
    ['2026-11-30', 'months', 3, '2027-02-28'],
    ['2026-10-15', 'months', 14, '2027-12-15'],
    ['2028-02-29', 'years', 1, '2029-02-28'],
    ['2028-02-29', 'years', 4, '2032-02-29'],
  ] as const)('after %s by %s %i is %s', (due, unit, interval, next) => {
    expect(nextDue(due, { unit, interval })).toBe(next);
  });

  it('comes back to the day of the series after a shorter month', () => {
    const monthly = { unit: 'months', interval: 1 } as const;
    let due = '2026-01-31';
    const seen: string[] = [];
    for (let month = 0; month < 4; month += 1) {
      due = nextDue(due, monthly, 31)!;
      seen.push(due);
    }
    expect(seen).toEqual(['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31']);
    expect(nextDue('2029-02-28', { unit: 'years', interval: 3 }, 29)).toBe('2032-02-29');
  });

  it('ends with the calendar', () => {
    expect(nextDue('9999-12-31', { unit: 'days', interval: 1 })).toBeNull();
    expect(nextDue('9700-01-01', { unit: 'years', interval: 365 })).toBeNull();
  });

  it('is a real day after the one before, whatever the interval', () =>
    forAll(
      100,
      [
        fc.date({ min: new Date('1900-01-01'), max: new Date('2999-12-31'), noInvalidDate: true }),
        fc.constantFrom('days' as const, 'weeks' as const, 'months' as const, 'years' as const),
        fc.integer({ min: 1, max: 365 }),
      ],
      (date, unit, interval) => {
        const due = date.toISOString().slice(0, 10);
        const next = nextDue(due, { unit, interval })!;
        expect(next > due).toBe(true);
        expect(new Date(next).toISOString().slice(0, 10)).toBe(next);
      },
    ));
});

describe('the lead time', () => {
  it.each([
    ['none', 1, 0],
    ['days', 1, 0],
    ['days', 2, 1],
    ['days', 30, 1],
    ['weeks', 1, 2],
    ['months', 1, 7],
    ['years', 1, 14],
    ['years', 10, 14],
  ] as const)('of %s by %i is %i days', (unit, interval, days) => {
    expect(defaultLead({ unit, interval })).toBe(days);
  });

  it('decides when a to-do opens', () => {
    expect(statusOn('2026-03-24', '2026-03-31', 7)).toBe('open');
    expect(statusOn('2026-03-23', '2026-03-31', 7)).toBe('scheduled');
    expect(statusOn('2026-04-30', '2026-03-31', 0)).toBe('open');
    expect(statusOn('2026-03-23', null, 0)).toBe('open');
  });
});
