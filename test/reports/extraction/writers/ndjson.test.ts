import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Column, Table } from '../../../../reports/extraction/extraction.types.ts';
import { writeNdjson } from '../../../../reports/extraction/writers/ndjson.ts';
import { endlessTable, Kept, Stuck, tableOf, textColumns } from './tables.ts';

describe('NDJSON', () => {
  it('nests lifecycle and attributes, keeps types and leaves empty values out', async () => {
    const out = new Kept();
    const columns: Column[] = [
      ...textColumns('name', 'lifecycle.active'),
      { header: 'attributes.run.cost', type: 'number' },
      { header: 'attributes.regions', type: 'multi' },
    ];
    const rows = [
      ['=1', '2020-01-01', -5, ['a', 'b']],
      ['x', null, undefined, null],
    ];
    await writeNdjson(tableOf(columns, rows), out, {});
    expect(out.content.toString()).toBe(
      '{"name":"=1","lifecycle":{"active":"2020-01-01"},"attributes":{"run.cost":-5,"regions":["a","b"]}}\n{"name":"x"}\n',
    );
  });

  it('takes no more rows than the reader takes, tells how many, and lets go of them when it is aborted', async () => {
    const { table, told } = endlessTable();
    const stop = new AbortController();
    let seen = 0;
    const onRows = (rows: number) => {
      seen += rows;
    };
    const out = new Stuck();
    const writing = writeNdjson(table, out, { signal: stop.signal, onRows });
    for (let turn = 0; turn < 1_000; turn += 1) await setImmediate();
    expect(told.rows).toBeLessThan(10_000);
    expect(seen).toBe(told.rows);
    const reason = new Error('cancelled');
    stop.abort(reason);
    await expect(writing).rejects.toBe(reason);
    expect([out.destroyed, told.closed]).toEqual([true, true]);
  });

  it('lets go of the rows when the reader goes', async () => {
    const { table, told } = endlessTable();
    const out = new Stuck();
    const writing = writeNdjson(table, out, {});
    out.destroy();
    await expect(writing).rejects.toThrow();
    expect(told.closed).toBe(true);
  });

  it('destroys the stream when the rows fail', async () => {
    const failing: Table = {
      ...tableOf(textColumns('a'), []),
      batches: (async function* () {
        yield [['1']];
        throw new Error('the database has gone');
      })(),
    };
    const out = new Kept();
    await expect(writeNdjson(failing, out, {})).rejects.toThrow('the database has gone');
    expect([out.destroyed, out.writableFinished]).toEqual([true, false]);
  });
});
