import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { ID, IdNumbers } from './report.ids.ts';
import type { Way } from './report.related.ts';
import { literal } from './report.sql.ts';
import type { ReportInput } from './report.ts';

/** Of pairs as bytes: the first id, and the second right behind it. */
const PAIR = 2 * ID.bytes;
/** Which list it is, and how many bytes of ids it has. */
const HEAD = 8;
/** Comma and line feed. */
const BETWEEN = 2;
const NONE = Buffer.alloc(0);

/** The ends of relations as bytes: pairs by relation type, those of cards and tags, and the ids of cards by type. */
export interface Ends {
  relations: Map<string, Buffer>;
  tags: Buffer;
  cards: Map<string, Buffer>;
}

/**
 * Reads the ends of all relations of some ways, the visible cards of the types that these lead to, and which cards and
 * tags belong together. All ids of one list go out as one value of bytes, in order, which takes the database a fraction of
 * the time of so many rows or texts.
 * @param lines from the report's input, as `visible` is.
 */
export async function readEnds(
  lines: ReportInput<unknown>['lines'],
  ways: ReadonlyMap<string, Way[]>,
  visible: Fragment,
): Promise<Ends> {
  const relationTypes = [...new Set([...ways.values()].flat().map(({ relationType }) => relationType))];
  const lists = [
    listOf(['k.card_id', 'k.tag_id'], 'card_tags k'),
    ...relationTypes.map((key) =>
      listOf(['r.source_id', 'r.target_id'], `relations r where r.type = ${literal(key)}`),
    ),
    ...[...ways].map(([type, some]) => {
      // where there is no relation, nobody asks for the cards; by the order the first of a type is found in the index
      const first = some.map(
        ({ relationType }) =>
          `(select r.id from relations r where r.type = ${literal(relationType)} order by r.source_id limit 1)`,
      );
      const asked = `coalesce(${first.join(', ')}) is not null`;
      return listOf(['c.id'], `cards c where c.type = ${literal(type)} and ${visible.sql} and ${asked}`);
    }),
  ];
  const read = await lines({
    sql: `select int4send(e.n) || int4send(length(e.ids)) || e.ids || convert_to(',', 'UTF8')
      from (${lists.map((list, n) => `select ${n} as n, ${list}`).join(' union all ')}) e where e.ids is not null`,
    bindings: [...ways].flatMap(() => visible.bindings),
  });
  const [tags = NONE, ...others] = takenApart(read, lists.length);
  const named = (names: string[], from: number) => new Map(names.map((name, n) => [name, others[from + n]!]));
  return { tags, relations: named(relationTypes, 0), cards: named([...ways.keys()], relationTypes.length) };
}

/** A select list and what follows: the ids of a table's rows, in order, as bytes. */
const listOf = (ids: string[], from: string): string =>
  `string_agg(${ids.map((id) => `uuid_send(${id})`).join(' || ')}, '' order by ${ids.join(', ')}) as ids from ${from}`;

/** Which list each is, since they come in no order; those without ids are not there. */
function takenApart(read: Buffer, count: number): Buffer[] {
  const lists = new Array<Buffer>(count).fill(NONE);
  for (let at = 0; at < read.length; ) {
    const to = at + HEAD + read.readUInt32BE(at + 4);
    lists[read.readUInt32BE(at)] = read.subarray(at + HEAD, to);
    at = to + BETWEEN;
  }
  return lists;
}

/** Cards by number, and which numbers each type has. */
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

/** Numbers that belong to owners, who are numbered themselves: those of owner n are from `starts[n]` to `starts[n + 1]`. */
export interface Lists {
  starts: Int32Array;
  items: Int32Array;
}

/** Pairs as bytes, and where in each the id of the owner stands and where that of the other. */
export interface OwnedPairs {
  pairs: Buffer;
  owner: number;
  other: number;
}

/** The pairs of relations of some ways, each from the card that is near to the one that is far, or the other way round. */
export function pairsOfWays(ends: Ends, ways: readonly Way[], isReverse = false): OwnedPairs[] {
  return ways.map(({ relationType, near }) => {
    const owner = (near === 'source_id') === isReverse ? ID.bytes : 0;
    return { pairs: ends.relations.get(relationType) ?? NONE, owner, other: ID.bytes - owner };
  });
}

/** The pairs of cards and their tags. */
export const pairsOfTags = ({ tags }: Ends): OwnedPairs => ({ pairs: tags, owner: 0, other: ID.bytes });

/** Room for pairs of numbers while they are put in order, used again for the next: V8 counts what is new as a reason to collect. */
export class PairRoom {
  owners = new Int32Array(0);
  items = new Int32Array(0);

  reserve(pairs: number): void {
    if (pairs <= this.owners.length) return;
    this.owners = new Int32Array(pairs);
    this.items = new Int32Array(pairs);
  }
}

/**
 * What belongs to each owner, in the order of ids and once. What has no number is left out.
 * @param others whose numbers the items are. @param numberOf the number of the id that stands there, below 0 for none.
 */
export function listsOf(
  owners: IdNumbers,
  others: IdNumbers,
  all: readonly OwnedPairs[],
  numberOf = (pairs: Buffer, at: number): number => others.find(pairs, at),
  room = new PairRoom(),
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
  // the order of the pairs is kept, which is that of either end's ids for the other
  const items = new Int32Array(count);
  for (let n = 0; n < count; n += 1) {
    const number = owned[n]!;
    items[starts[number]!] = numbers[n]!;
    starts[number]! += 1;
  }
  // each start has moved to where the next one is
  starts.copyWithin(1, 0);
  starts[0] = 0;
  // no relation comes twice in one type
  return all.length > 1 ? inOrder({ starts, items }, others) : { starts, items };
}

/** The same in the order of the others' ids, each once. */
function inOrder({ starts, items }: Lists, others: IdNumbers): Lists {
  const newStarts = new Int32Array(starts.length);
  let kept = 0;
  for (let n = 0; n + 1 < starts.length; n += 1) {
    const from = starts[n]!;
    const to = starts[n + 1]!;
    newStarts[n] = kept;
    // most owners have one, or none
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
