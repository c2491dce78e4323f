import { snappyUncompress } from 'hyparquet';
import { expect, it } from 'vitest';
import { parquetValues } from '../../../../reports/kernel/formats/parquet.columns.ts';
import { snappy } from '../../../../reports/kernel/formats/parquet.snappy.ts';

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

/** Bytes of so many kinds, of which some stand again at a distance. */
function bytesOf(length: number, kinds: number, distance: number): Uint8Array {
  let seed = length * 31 + kinds;
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const bytes = new Uint8Array(length);
  for (let n = 0; n < length; n += 1) {
    const again = n >= distance && next(100) < 90;
    bytes[n] = again ? bytes[n - distance]! : next(kinds);
  }
  return bytes;
}

it.each([
  [0, 1, 1],
  [1, 200, 1],
  [15, 2, 1],
  [16, 2, 3],
  [61, 250, 60],
  [300, 250, 299],
  [70_000, 250, 66_000],
  [200_000, 256, 65_535],
  [200_000, 256, 7],
  [200_000, 1, 1],
])('compresses %i bytes of %i kinds so that they come back', (length, kinds, distance) => {
  const bytes = bytesOf(length, kinds, distance);
  const back = new Uint8Array(length);
  snappyUncompress(snappy(bytes), back);
  expect(Buffer.compare(back, bytes)).toBe(0);
});
