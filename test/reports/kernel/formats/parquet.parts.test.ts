import { expect, it } from 'vitest';
import { parquetValues } from '../../../../reports/kernel/formats/parquet.columns.ts';

const DAY_MS = 86_400_000;

it('counts days as the calendar does', () => {
  const dayOf = parquetValues('date');
  const wrong: string[] = [];
  for (let day = -700_000; day < 2_900_000; day += 97) {
    const text = new Date(day * DAY_MS).toISOString().slice(0, 10);
    if (text.length === 10 && dayOf(text) !== day) wrong.push(text);
  }
  expect(wrong).toEqual([]);
  const ends = ['2024-02-29', '2023-12-31', '2000-02-29', '1900-02-28', '0001-01-01', '9999-12-31'];
  expect(ends.map(dayOf)).toEqual(ends.map((text) => Date.parse(text) / DAY_MS));
  expect(['soon', '', '2024-13-01', '2024-00-10', '20240101'].map(dayOf)).toEqual(Array(5).fill(null));
});
