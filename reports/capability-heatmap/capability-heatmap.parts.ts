import { eachLine } from '../report.lines.ts';

/** The length of an id as text. */
const ID = 36;
const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7d];
const comma = Buffer.from(',');

/** The member of an application's JSON that holds what it is related to; behind its name there are types and ids alone. */
export const RELATED = '"related_by_type":';
const related = Buffer.from(`${RELATED}{`);

/** What the applications are related to: the ids, and their types. */
export function relatedOf(apps: Iterable<Buffer>): { ids: Set<string>; types: Set<string> } {
  const ids = new Set<string>();
  const types = new Set<string>();
  for (const app of apps) {
    // "type":["id","id"],"type":["id"]}
    let at = app.lastIndexOf(related) + related.length;
    while (app[at] !== BRACE) {
      const type = app[at] === COMMA ? at + 1 : at;
      at = type;
      while (app[at] !== BRACKET) at += 1;
      types.add(app.toString('latin1', type + 1, at - 2));
      do {
        at += 2;
        ids.add(app.toString('latin1', at, at + ID));
        at += ID + 1;
      } while (app[at] === COMMA);
      at += 1;
    }
  }
  return { ids, types };
}

/** The last member of a capability's JSON. Its line has the ids of the applications there, one after the other. */
export const APPS = ',"apps":[';
const appsMember = Buffer.from(APPS);

/** The capabilities on a line each. An application stands under many, so its text is made and sent once, and put in here. */
export function capabilitiesWith(apps: ReadonlyMap<string, Buffer>, capabilities: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  const end = Buffer.from(']}');
  const endOfLine = Buffer.from(']},\n');
  for (const [from, to] of eachLine(capabilities)) {
    const ids = capabilities.lastIndexOf(appsMember, to) + appsMember.length;
    if (pieces.length > 0) pieces.push(endOfLine);
    pieces.push(capabilities.subarray(from, ids));
    for (let at = ids; at + ID < to; at += ID) {
      if (at > ids) pieces.push(comma);
      pieces.push(apps.get(capabilities.toString('latin1', at, at + ID))!);
    }
  }
  if (pieces.length > 0) pieces.push(end);
  return pieces;
}

const TYPE = '"type":"';
/** Where the id stands in a line that begins with it. */
const ID_FROM = '{"id":"'.length;

/**
 * Picks cards out by their ids, as an object of arrays by type. Cards that follow each other stay together.
 * @param cards on lines in the order of types, each card beginning with its id and ending with its type.
 */
export function pickedByType(cards: Buffer, ids: ReadonlySet<string>): (string | Buffer)[] {
  const pieces: (string | Buffer)[] = [];
  let tail = '';
  let [first, last] = [0, 0];
  const pass = () => {
    if (last > first) pieces.push(cards.subarray(first, last));
  };
  for (const [from, to] of eachLine(cards)) {
    const id = from + ID_FROM;
    if (!ids.has(cards.toString('latin1', id, id + ID))) continue;
    const ends = cards.toString('latin1', to - tail.length, to);
    if (tail === '' || ends !== tail) {
      pass();
      tail = cards.toString('latin1', cards.lastIndexOf(TYPE, to), to);
      pieces.push(`${pieces.length > 0 ? '],' : ''}${tail.slice(TYPE.length - 1, -1)}:[`);
      first = from;
    } else if (from > last + 2) {
      pass();
      pieces.push(comma);
      first = from;
    }
    last = to;
  }
  pass();
  return ['{', ...pieces, pieces.length > 0 ? ']}' : '}'];
}
