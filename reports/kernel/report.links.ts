import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { embed, fragment, joinFragments } from '../../platform/database.ts';
import { ID, IdNumbers } from './report.ids.ts';
import type { RelationPath } from './report.related.ts';
import type { ReportInput } from './report.ts';

/** A pair in binary form: two consecutive ids. */
const PAIR = 2 * ID.bytes;
/** Header of a list: its index and its number of bytes. */
const HEAD = 8;
/** Comma and line feed. */
const BETWEEN = 2;
const NONE = Buffer.alloc(0);

/** Binary lists: pairs of relation ends by relation type, pairs of cards and tags, and ids of cards by type. */
export interface Ends {
  relations: Map<string, Buffer>;
  tags: Buffer;
  cards: Map<string, Buffer>;
}

/**
 * Reads the ends of all relations along some relation paths, the visible cards of their target types, and the tags of
 * cards. Each list is one ordered `bytea` value, which is much faster than rows or texts.
 * @param lines from the report's input, as `visible` is.
 */
export async function readEnds(
  lines: ReportInput<unknown>['lines'],
  ways: ReadonlyMap<string, RelationPath[]>,
  visible: Fragment,
): Promise<Ends> {
  const relationTypes = [...new Set([...ways.values()].flat().map(({ relationType }) => relationType))];
  const lists = [
    fragment`${embed(listOf(['k.card_id', 'k.tag_id']))} from card_tags k`,
    ...relationTypes.map(
      (key) =>
        fragment`${embed(listOf(['r.source_id', 'r.target_id']))} from relations r where r.type = ${key}`,
    ),
    ...[...ways].map(([type, some]) => {
      // without relations the cards are not needed; the order makes the lookup of the first relation use the index
      const first = some.map(
        ({ relationType }) =>
          fragment`(select r.id from relations r where r.type = ${relationType} order by r.source_id limit 1)`,
      );
      return fragment`${embed(listOf(['c.id']))} from cards c where c.type = ${type} and ${embed(visible)}
        and coalesce(${embed(joinFragments(first, ', '))}) is not null`;
    }),
  ];
  const all = lists.map((list, n) => fragment`select ${embed(n)} as n, ${embed(list)}`);
  const read = await lines(fragment`
    select int4send(e.n) || int4send(length(e.ids)) || e.ids || convert_to(',', 'UTF8')
    from (${embed(joinFragments(all, ' union all '))}) e where e.ids is not null`);
  const [tags = NONE, ...others] = splitLists(read, lists.length);
  const named = (names: string[], from: number) => new Map(names.map((name, n) => [name, others[from + n]!]));
  return { tags, relations: named(relationTypes, 0), cards: named([...ways.keys()], relationTypes.length) };
}

/** Aggregates the ids of a table's rows in order. */
const listOf = (ids: string[]): string =>
  `string_agg(${ids.map((id) => `uuid_send(${id})`).join(' || ')}, '' order by ${ids.join(', ')}) as ids`;

/** Splits the result into lists by index; they arrive in any order, and empty lists are absent. */
function splitLists(read: Buffer, count: number): Buffer[] {
  const lists = new Array<Buffer>(count).fill(NONE);
  for (let at = 0; at < read.length; ) {
    const to = at + HEAD + read.readUInt32BE(at + 4);
    lists[read.readUInt32BE(at)] = read.subarray(at + HEAD, to);
    at = to + BETWEEN;
  }
  return lists;
}

/** Cards by number, and the range of numbers of each type. */
export interface NumberedCards {
  numbers: IdNumbers;
  types: Map<string, { first: number; end: number }>;
}

export function numberedCards({ cards }: Ends): NumberedCards {
  const numbers = new IdNumbers([...cards.values()].reduce((sum, ids) => sum + ids.length / ID.bytes, 0));
  const types: NumberedCards['types'] = new Map();
  for (const [type, ids] of cards) {
    const first = numbers.count;
    for (let at = 0; at < ids.length; at += ID.bytes) numbers.add(ids, at);
    types.set(type, { first, end: numbers.count });
  }
  return { numbers, types };
}

/** Items of numbered owners: those of owner n are `items[starts[n]]` to `items[starts[n + 1] - 1]`. */
export interface Lists {
  starts: Int32Array;
  items: Int32Array;
}

/** Binary pairs with the offsets of the owner's and the other id. */
export interface OwnedPairs {
  pairs: Buffer;
  owner: number;
  other: number;
}

/** The pairs along some relation paths, with the near card as owner, or the far card if `isReverse`. */
export function pairsOfPaths(ends: Ends, ways: readonly RelationPath[], isReverse = false): OwnedPairs[] {
  return ways.map(({ relationType, near }) => {
    const owner = (near === 'source_id') === isReverse ? ID.bytes : 0;
    return { pairs: ends.relations.get(relationType) ?? NONE, owner, other: ID.bytes - owner };
  });
}

/** The pairs of cards and their tags. */
export const pairsOfTags = ({ tags }: Ends): OwnedPairs => ({ pairs: tags, owner: 0, other: ID.bytes });

/** Reusable buffers for sorting pairs: new allocations would trigger garbage collections. */
export class PairBuffers {
  owners = new Int32Array(0);
  items = new Int32Array(0);

  reserve(pairs: number): void {
    if (pairs <= this.owners.length) return;
    this.owners = new Int32Array(pairs);
    this.items = new Int32Array(pairs);
  }
}

/**
 * The items of each owner, sorted by id, without duplicates and unknown ids.
 * @param others numbers of the items. @param numberOf returns the number of the id at an offset; below 0 if unknown.
 */
export function listsOf(
  owners: IdNumbers,
  others: IdNumbers,
  all: readonly OwnedPairs[],
  numberOf = (pairs: Buffer, at: number): number => others.find(pairs, at),
  room = new PairBuffers(),
): Lists {
  room.reserve(all.reduce((sum, { pairs }) => sum + pairs.length / PAIR, 0));
  const { owners: owned, items: numbers } = room;
  const starts = new Int32Array(owners.count + 1);
  let count = 0;
  for (const { pairs, owner, other } of all) {
    for (let at = 0; at < pairs.length; at += PAIR) {
      const number = owners.find(pairs, at + owner);
      if (number < 0) continue;
      const item = numberOf(pairs, at + other);
      if (item < 0) continue;
      owned[count] = number;
      numbers[count] = item;
      count += 1;
      starts[number + 1]! += 1;
    }
  }
  for (let n = 0; n < owners.count; n += 1) starts[n + 1]! += starts[n]!;
  // stable: the pairs are sorted by the ids of either end
  const items = new Int32Array(count);
  for (let n = 0; n < count; n += 1) {
    const number = owned[n]!;
    items[starts[number]!] = numbers[n]!;
    starts[number]! += 1;
  }
  // each start has advanced to the next one
  starts.copyWithin(1, 0);
  starts[0] = 0;
  // pairs of one relation type are unique
  return all.length > 1 ? sortItems({ starts, items }, others) : { starts, items };
}

/** Sorts the items of each owner by id and removes duplicates. */
function sortItems({ starts, items }: Lists, others: IdNumbers): Lists {
  const newStarts = new Int32Array(starts.length);
  let kept = 0;
  for (let n = 0; n + 1 < starts.length; n += 1) {
    const from = starts[n]!;
    const to = starts[n + 1]!;
    newStarts[n] = kept;
    // most owners have at most one item
    if (to - from > 1) items.subarray(from, to).sort((a, b) => others.compare(a, b));
    for (let m = from; m < to; m += 1) {
      if (m > from && items[m] === items[kept - 1]) continue;
      items[kept] = items[m]!;
      kept += 1;
    }
  }
  newStarts[starts.length - 1] = kept;
  return { starts: newStarts, items: items.subarray(0, kept) };
}
