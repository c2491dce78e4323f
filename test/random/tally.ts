import { groups } from './operations.ts';

type Count = { groups: Map<string, number>; statuses: Map<number, number> };

/** Counts answers by operation, for the table in the end. */
export interface Tally {
  add(operation: string, group: string, status: number): void;
  /** Notes that a request which ought to have succeeded did not. */
  refused(operation: string, what: string): void;
  /** The table, an operation a line. */
  table(): string;
  /** How far the run falls short of a fair one: `least` requests for each group, and the parts that it must have. */
  shortfalls(least: number): string[];
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((a, b) => a + b, 0);
const percent = (part: number, whole: number): string => `${((100 * part) / (whole || 1)).toFixed(0)} %`;

/** The part of each operation's requests that must be answered 2xx, and the part of all that must write. */
const SUCCEEDED = 0.3;
const WRITING = 0.4;

/** With fewer requests than these the parts of one operation say nothing. */
const ENOUGH = 50;

export function createTally(operations: string[]): Tally {
  const counts = new Map<string, Count>(
    operations.map((name) => [name, { groups: new Map(), statuses: new Map() }]),
  );
  const refusals = new Map<string, string[]>();
  const succeeded = ({ statuses }: Count) =>
    sum([...statuses].filter(([status]) => status >= 200 && status < 300).map(([, count]) => count));
  const total = ({ statuses }: Count) => sum(statuses.values());
  const written = () =>
    sum([...counts].filter(([name]) => !name.startsWith('GET ')).map(([, c]) => total(c)));
  const all = () => sum([...counts.values()].map(total));

  return {
    add(operation, group, status) {
      const count = counts.get(operation)!;
      count.groups.set(group, (count.groups.get(group) ?? 0) + 1);
      count.statuses.set(status, (count.statuses.get(status) ?? 0) + 1);
    },
    refused(operation, what) {
      refusals.set(operation, [...(refusals.get(operation) ?? []), what]);
    },
    table() {
      const width = Math.max(...operations.map((name) => name.length)) + 1;
      const line = (name: string, cells: unknown[], rest: string) =>
        `${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(9)).join('')}  ${rest}`;
      return [
        line('operation', ['requests', ...Object.keys(groups), '2xx'], 'by status'),
        ...[...counts].map(([name, count]) =>
          line(
            name,
            [
              total(count),
              ...Object.keys(groups).map((group) => count.groups.get(group) ?? 0),
              percent(succeeded(count), total(count)),
            ],
            [...count.statuses]
              .sort(([a], [b]) => a - b)
              .map(([status, times]) => `${status}: ${times}`)
              .join(', '),
          ),
        ),
        `${counts.size} operations, ${all()} requests, ${percent(written(), all())} of them writing`,
      ].join('\n');
    },
    shortfalls(least) {
      const short: string[] = [];
      for (const [name, count] of counts) {
        for (const group of Object.keys(groups)) {
          const asked = count.groups.get(group) ?? 0;
          if (asked < least) short.push(`${name}: ${asked} requests of ${group}, not ${least}`);
        }
        if (total(count) >= ENOUGH && succeeded(count) < SUCCEEDED * total(count))
          short.push(
            `${name}: only ${percent(succeeded(count), total(count))} were answered 2xx` +
              `; ${refusals.get(name)?.length ?? 0} refused that ought not, such as ${refusals.get(name)?.at(-1)}`,
          );
      }
      if (written() < WRITING * all()) short.push(`only ${percent(written(), all())} were writing`);
      return short;
    },
  };
}
