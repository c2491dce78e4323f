import type { ReportBody } from '../../kernel/report.body.ts';
import { ID, IdNumbers } from '../../kernel/report.ids.ts';
import {
  type Ends,
  type Lists,
  listsOf,
  type NumberedCards,
  PairBuffers,
  pairsOfPaths,
  pairsOfTags,
} from '../../kernel/report.links.ts';
import type { NumberedLines } from '../../kernel/report.numbered.ts';
import { ORGANIZATION, type RelationPath } from '../../kernel/report.related.ts';

/** The related objects of each application, by number. */
export interface Related {
  cards: IdNumbers;
  /** In the order of the response. */
  byType: { head: Buffer; lists: Lists }[];
  organizations: Lists | undefined;
  tags: { numbers: IdNumbers; lists: Lists };
}

/** @param ways relation paths from applications to other types, in the order of the response. */
export function relatedOf(
  apps: NumberedLines,
  { numbers, types }: NumberedCards,
  ends: Ends,
  ways: ReadonlyMap<string, RelationPath[]>,
): Related {
  const byType = new Map<string, Lists>();
  const room = new PairBuffers();
  for (const [type, some] of ways) {
    const { first, end } = types.get(type)!;
    const ofType = (pairs: Buffer, at: number): number => {
      const card = numbers.find(pairs, at);
      return card >= first && card < end ? card : -1;
    };
    const lists = listsOf(apps.numbers, numbers, pairsOfPaths(ends, some), ofType, room);
    if (lists.items.length > 0) byType.set(type, lists);
  }
  const tags = new IdNumbers(ends.tags.length / (2 * ID.bytes));
  return {
    cards: numbers,
    byType: [...byType].map(([type, lists]) => ({ head: Buffer.from(`${JSON.stringify(type)}:[`), lists })),
    organizations: byType.get(ORGANIZATION),
    tags: {
      numbers: tags,
      lists: listsOf(apps.numbers, tags, [pairsOfTags(ends)], (pairs, at) => tags.add(pairs, at), room),
    },
  };
}

const opening = {
  organizations: Buffer.from(',"org_ids":['),
  byType: Buffer.from('],"related_by_type":{'),
  tags: Buffer.from('},"tag_ids":['),
};
const list = { end: Buffer.from(']'), next: Buffer.from('],') };
const end = Buffer.from(']}');

const around = opening.organizations.length + opening.byType.length + opening.tags.length + end.length;

/** Maximum number of bytes that {@link writeRelated} writes for an application. */
export function bytesOfRelated({ byType, organizations, tags }: Related, app: number): number {
  let bytes = around;
  let ids = lengthOf(tags.lists, app) + (organizations ? lengthOf(organizations, app) : 0);
  for (const { head, lists } of byType) {
    const count = lengthOf(lists, app);
    if (count > 0) bytes += head.length + list.next.length;
    ids += count;
  }
  return bytes + ids * (ID.text + 3);
}

const lengthOf = ({ starts }: Lists, owner: number): number => starts[owner + 1]! - starts[owner]!;

/** Writes the last members of an application, its related objects, and flags these cards. */
export function writeRelated(
  body: ReportBody,
  { cards, byType, organizations, tags }: Related,
  app: number,
  isRelated: Uint8Array,
): void {
  body.copy(opening.organizations);
  if (organizations)
    body.ids(cards, organizations.items, organizations.starts[app]!, organizations.starts[app + 1]!);
  body.copy(opening.byType);
  let isFirst = true;
  for (const { head, lists } of byType) {
    const [from, to] = [lists.starts[app]!, lists.starts[app + 1]!];
    if (from === to) continue;
    if (!isFirst) body.copy(list.next);
    isFirst = false;
    body.copy(head);
    body.ids(cards, lists.items, from, to);
    for (let n = from; n < to; n += 1) isRelated[lists.items[n]!] = 1;
  }
  if (!isFirst) body.copy(list.end);
  body.copy(opening.tags);
  body.ids(tags.numbers, tags.lists.items, tags.lists.starts[app]!, tags.lists.starts[app + 1]!);
  body.copy(end);
}
