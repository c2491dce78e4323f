import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import type {
  MatchField,
  MatchRecord,
  MatchValue,
} from '../../../integrations/analysis/matching/matching.types.ts';

/** Records with the pairs that are known to match. */
export interface Judged {
  name: string;
  left: MatchRecord[];
  /** null where pairs are looked for within `left`. */
  right: MatchRecord[] | null;
  fields: MatchField[];
  /** True pairs as `pairKey` writes them. */
  truth: Set<string>;
}

export type Values = Record<string, MatchValue>;

/** A list under construction: records of entities; every two of one entity are a true pair. */
export class List {
  readonly records: MatchRecord[] = [];
  readonly #entities = new Map<unknown, string[]>();
  readonly #prefix: string;

  constructor(prefix = '') {
    this.#prefix = prefix;
  }

  /** @returns the id of the record. */
  add(entity: unknown, values: Values): string {
    const id = `${this.#prefix}${`${this.records.length}`.padStart(7, '0')}`;
    this.records.push({ id, values });
    this.#entities.set(entity, [...(this.#entities.get(entity) ?? []), id]);
    return id;
  }

  judged(name: string, fields: MatchField[]): Judged {
    return { name, left: this.records, right: null, fields, truth: pairsWithin(this.#entities.values()) };
  }
}

/** All pairs of ids within each group. */
export const pairsWithin = (groups: Iterable<string[]>): Set<string> =>
  new Set(
    [...groups].flatMap((ids) =>
      ids.flatMap((id, at) => ids.slice(at + 1).map((other) => pairKey(id, other))),
    ),
  );

type Line = Record<string, string>;

/** Columns that are compared, and how; all others are ignored. */
const KINDS: Record<string, MatchField['kind']> = {
  name: 'name',
  title: 'name',
  'site name': 'name',
  authors: 'name',
  venue: 'name',
  manufacturer: 'name',
  address: 'address',
  description: 'text',
  price: 'number',
  year: 'number',
  zip: 'code',
  phone: 'code',
};
const CLUSTER = 'True Id';

/** One text for a pair, whichever way round. */
export const pairKey = (a: string, b: string): string => JSON.stringify(a < b ? [a, b] : [b, a]);

/**
 * The judged sets in a folder and its subfolders: a `gt.csv` of pairs beside two files whose first column is the id, each pair
 * naming an id of the first and of the second; or a file with a column `True Id` that equal records share.
 */
export function readJudged(folder: string): Judged[] {
  const entries = readdirSync(folder).sort();
  const folders = entries.filter((entry) => statSync(path.join(folder, entry)).isDirectory());
  const files = entries.filter((entry) => entry.endsWith('.csv') && entry !== 'gt.csv');
  const sets = folders.flatMap((entry) => readJudged(path.join(folder, entry)));
  if (entries.includes('gt.csv') && files.length === 2) sets.push(...readSources(folder, files));
  else
    for (const file of files) {
      const lines = readLines(path.join(folder, file));
      if (lines[0] && CLUSTER in lines[0]) sets.push(readClusters(file, lines));
    }
  return sets;
}

function readLines(file: string): Line[] {
  return parse(readFileSync(file, 'utf8'), {
    columns: true,
    delimiter: [',', '|'],
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
  });
}

function readSources(folder: string, files: string[]): Judged[] {
  const [first, second] = files.map((file) => readLines(path.join(folder, file))) as [Line[], Line[]];
  const recordsOf = (lines: Line[], prefix: string) =>
    lines.map((line) => ({ id: `${prefix}${Object.values(line)[0]}`, values: valuesOf(line) }));
  const [left, right] = [recordsOf(first, '1:'), recordsOf(second, '2:')];
  const truth = new Set(
    readLines(path.join(folder, 'gt.csv')).map((line) => {
      const [a, b] = Object.values(line);
      return pairKey(`1:${a}`, `2:${b}`);
    }),
  );
  const fields = fieldsOf(first[0]!);
  const name = path.basename(folder);
  return [
    { name: `${name}, two sources`, left, right, fields, truth },
    { ...halved(left, right, truth), name: `${name}, half without a counterpart`, fields },
    { name: `${name}, one list`, left: [...left, ...right], right: null, fields, truth },
  ];
}

/** The first two thirds of the left records against the last two thirds of the right ones' partners: a third of all is common. */
function halved(left: MatchRecord[], right: MatchRecord[], truth: Set<string>) {
  const places = new Map(left.map(({ id }, at) => [id, at]));
  const partner = new Map(
    [...truth].map((key) => {
      const [a, b] = JSON.parse(key) as [string, string];
      return [b, places.get(a) ?? 0];
    }),
  );
  const lefts = left.filter((_, at) => at < (left.length * 2) / 3);
  const rights = right.filter(({ id }) => (partner.get(id) ?? 0) >= left.length / 3);
  const ids = new Set([...lefts, ...rights].map(({ id }) => id));
  const kept = [...truth].filter((key) => (JSON.parse(key) as string[]).every((id) => ids.has(id)));
  return { left: lefts, right: rights, truth: new Set(kept) };
}

function readClusters(file: string, lines: Line[]): Judged {
  const list = new List();
  for (const line of lines) list.add(line[CLUSTER], valuesOf(line));
  return list.judged(`${file}, one list`, fieldsOf(lines[0]!));
}

const valuesOf = (line: Line) =>
  Object.fromEntries(Object.entries(line).map(([column, value]) => [column.toLowerCase(), value]));

const fieldsOf = (line: Line): MatchField[] =>
  Object.keys(line)
    .map((column) => column.toLowerCase())
    .filter((column) => KINDS[column])
    .map((column) => ({ name: column, kind: KINDS[column]! }));
