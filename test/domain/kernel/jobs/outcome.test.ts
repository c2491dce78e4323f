import { describe, expect, it } from 'vitest';
import { nothingWritten, outcomeOf } from '../../../../domain/kernel/jobs/jobs.lease.ts';

describe('the end of a job', () => {
  it('follows from the rows that failed', () => {
    const complete = { status: 'succeeded', outcome: 'complete', error: null };
    expect(outcomeOf({})).toEqual(complete);
    expect(outcomeOf({ counts: { total: 0, failed: 0 } })).toEqual(complete);
    expect(outcomeOf({ counts: { total: 3, failed: 0 } })).toEqual(complete);
    expect(outcomeOf({ counts: { total: 3, failed: 2 } })).toEqual({ ...complete, outcome: 'partial' });
    expect(outcomeOf({ counts: { total: 3, failed: 0, left_out: 0 } })).toEqual(complete);
    expect(outcomeOf({ counts: { total: 3, failed: 0, left_out: 1 } })).toEqual({
      ...complete,
      outcome: 'partial',
    });
    // a kind that does not count rows
    expect(outcomeOf({ counts: { failed: 2 } })).toMatchObject({ status: 'succeeded', outcome: 'partial' });
    expect(outcomeOf({ counts: { total: 3, failed: 3 } })).toMatchObject({
      status: 'failed',
      outcome: null,
      error: { code: 'nothing_written' },
    });
  });

  it('follows from the error of a job that has a report', () => {
    const counts = { total: 3, failed: 1 };
    expect(outcomeOf({ counts, error: nothingWritten(counts) })).toEqual({
      status: 'failed',
      outcome: null,
      error: { code: 'nothing_written', message: 'Nothing was written: 1 of 3 rows failed' },
    });
  });
});
